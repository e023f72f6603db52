import { createNotesApp } from './app.js'

const app = await createNotesApp()
await app.start()
