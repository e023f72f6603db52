import { call } from './calls.js'
import { start } from './server.js'

const { url, close } = await start()
await call(url)
console.log('raw', await (await fetch(`${url}/api/notes/1`)).text())
close()
