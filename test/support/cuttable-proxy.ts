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
}

export async function startProxy(t: Test, target: number): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let hanging = false
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
      from.on('data', (chunk) => hanging || to.write(chunk)).on('close', () => to.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(() => {
    server.close()
    cut()
  })
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    hang() {
      hanging = true
    },
    heal() {
      hanging = false
      cut()
    }
  }
}
