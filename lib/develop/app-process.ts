/*
 * Where the process of the application begins. The development server may be killed at any moment: without it there is nothing
 * to do here, not even while the rest is loaded.
 */
import process from 'node:process'
import { watchParent } from './orphan-watch.js'

const end = (): void => process.exit()
process.once('disconnect', end)
if (!process.connected) end()
watchParent(Number(process.argv[4]))

await import('./app-program.js')
