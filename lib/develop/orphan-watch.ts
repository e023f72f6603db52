import { Worker } from 'node:worker_threads'

/** Milliseconds that the application has for closing, if it notices itself. */
const TIME = 5000

/** In plain JavaScript: it runs without a file of its own. */
const CODE = `
const { workerData } = require('node:worker_threads')
let isOver = false
setInterval(() => {
  if (isOver || process.ppid === workerData) return
  isOver = true
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${TIME})
}, 1000)`

/**
 * Ends this process when the one that has begun it was killed: in a thread, because a program in an endless loop hears of
 * nothing.
 */
export function watchParent(parent: number): void {
  const worker = new Worker(CODE, {
    eval: true,
    workerData: parent,
    env: {}, // what NODE_OPTIONS loads is for the application
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 }
  })
  worker.on('error', () => undefined).unref() // the application runs without it, too
}
