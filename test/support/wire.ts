import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** The part of tap that ends what a test has started. */
interface Test {
  teardown(end: () => unknown): void
}

/** A connection whose bytes the test writes itself. */
export class Wire {
  readonly socket: Socket
  /** Everything that has come back. */
  received = ''
  readonly #closed: Promise<unknown>

  constructor(t: Test, address: string) {
    const { port } = new URL(address)
    this.socket = connect(Number(port), '127.0.0.1')
    this.socket.setNoDelay(true)
    this.socket.on('data', (bytes) => (this.received += bytes.toString('latin1')))
    this.socket.on('error', () => {}) // a reset is one way to be refused; what was received counts
    this.#closed = once(this.socket, 'close')
    t.teardown(() => this.socket.destroy())
  }

  /** Sends bytes, in a packet of their own. */
  async write(bytes: string | Buffer): Promise<this> {
    await new Promise((resolve) => this.socket.write(bytes, resolve))
    return this
  }

  /** Waits until what came back matches. @throws when the connection closes before */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received)) {
      const isOver = await Promise.race([once(this.socket, 'data').then(() => false), this.#closed.then(() => true)])
      if (isOver && !pattern.test(this.received)) throw new Error(`Closed after: ${this.received}`)
    }
    return this.received
  }

  /** Waits until the server has closed the connection; returns all that came back. */
  async closed(): Promise<string> {
    await this.#closed
    return this.received
  }
}

/** The head of a request, with a Host header. */
export function head(line: string, headers: Readonly<Record<string, string | number>> = {}): string {
  const lines = Object.entries({ host: 'example.com', ...headers }).map(([name, value]) => `${name}: ${value}`)
  return `${line} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
}

/** The body of every answer in what came back, in order; for answers that tell their length. */
export function bodiesOf(received: string): string[] {
  const bodies: string[] = []
  let rest = received
  while (rest.includes('\r\n\r\n')) {
    const start = rest.indexOf('\r\n\r\n') + 4
    const length = Number(/content-length: (\d+)/i.exec(rest.slice(0, start))?.[1] ?? 0)
    bodies.push(rest.slice(start, start + length))
    rest = rest.slice(start + length)
  }
  return bodies
}
