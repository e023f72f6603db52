import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** The part of tap that ends what a test has started. */
interface Test {
  teardown(end: () => unknown): void
}

/** A TCP proxy to one port of this machine, for making a server look broken. */
export interface Proxy {
  port: number
  /** Connections stay open, but nothing goes through any more. */
  hang(): void
  /** All connections break; new ones work. */
  cut(): void
  /** As if nothing had happened; what was held back is gone, so its connections are cut. */
  heal(): void
  /** New connections work; those that hang are never heard of again, as behind a firewall that has forgotten them. */
  forget(): void
  /** Everything takes so many milliseconds more, each way. */
  slow(ms: number): void
  /** Connections are cut, and new ones refused, until it listens again. */
  refuse(): Promise<void>
  listen(): Promise<void>
}

export async function startProxy(t: Test, target: number): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let hanging = false
  let delay = 0
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
  }
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      keep(from)
      from.on('data', (chunk) => pass(to, chunk)).on('close', () => to.destroy())
    }
  })
  function pass(to: Socket, chunk: Buffer) {
    if (hanging || forgotten.has(to)) return
    if (delay === 0) to.write(chunk)
    else setTimeout(() => to.writable && to.write(chunk), delay)
  }
  const forgotten = new WeakSet<Socket>()
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(() => {
    server.close()
    cut()
  })
  return {
    port,
    cut,
    forget() {
      hanging = false
      for (const socket of sockets) forgotten.add(socket)
    },
    slow(ms) {
      delay = ms
    },
    async refuse() {
      const closed = new Promise((resolve) => server.close(resolve))
      cut()
      await closed
    },
    listen: () => listen(port),
    hang() {
      hanging = true
    },
    heal() {
      hanging = false
      cut()
    }
  }
}
