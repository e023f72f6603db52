// Preloaded into the application: what a test cannot do to a machine it does to one process. Messages of the parent move its
// clock, take its names away, and ask what it holds.
const dns: Resolver = require('node:dns')
const net: { isIP(name: string): number } = require('node:net')
const fs: { readdirSync(folder: string): string[] } = require('node:fs')

interface Resolver {
  lookup(name: string, ...rest: unknown[]): void
  promises: { lookup(name: string, ...rest: unknown[]): Promise<unknown> }
}

/** What a process holds after its garbage was collected (`--expose-gc`). */
interface Held {
  heap: number
  outside: number
  descriptors: number
  /** Timers, sockets, watchers: what keeps an event loop going, by kind. */
  resources: Record<string, number>
  listeners: number
}

type Order = { clock: number } | { dns: 'gone' | 'back' } | 'measure'

/** A name that is this machine while there are names. */
const NAME = 'store.test'

let shift = 0
let namesAreGone = false

const realNow = Date.now.bind(Date)
const shiftedNow = (): number => realNow() + shift

globalThis.Date = new Proxy(Date, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [shiftedNow()] : given, newTarget) as Date,
  apply: () => new Date(shiftedNow()).toString(),
  get: (target, key) => (key === 'now' ? shiftedNow : (Reflect.get(target, key) as unknown))
})

const { lookup } = dns
dns.lookup = (name, ...rest) => {
  const done = rest.at(-1) as (error: Error) => void
  if (net.isIP(name) !== 0) lookup(name, ...rest)
  else if (namesAreGone) process.nextTick(done, notFound(name))
  else lookup(name === NAME ? '127.0.0.1' : name, ...rest)
}

const { lookup: lookUp } = dns.promises
dns.promises.lookup = async (name, ...rest) => {
  if (net.isIP(name) === 0 && namesAreGone) throw notFound(name)
  return lookUp(name === NAME ? '127.0.0.1' : name, ...rest)
}

function notFound(hostname: string): Error {
  const code = 'ENOTFOUND'
  return Object.assign(new Error(`getaddrinfo ${code} ${hostname}`), { code, hostname, syscall: 'getaddrinfo' })
}

function held(): Held {
  for (let count = 0; count < 3; count++) globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  const resources: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1
  return {
    heap: heapUsed,
    outside: external,
    descriptors: fs.readdirSync('/proc/self/fd').length,
    resources,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  }
}

process.on('message', (order: Order) => {
  if (order === 'measure') process.send?.(held())
  else if ('clock' in order) shift = order.clock
  else namesAreGone = order.dns === 'gone'
})
// The application ends as it would without a parent.
process.channel?.unref()
