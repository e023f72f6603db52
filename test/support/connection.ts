import { once } from 'node:events'
import net, { type Socket } from 'node:net'

/** A connection on which a test writes HTTP by hand. */
export interface Connection {
  socket: Socket
  /** What has been received. */
  text: string
  /** Sends; resolves when it has been handed to the kernel. */
  send(text: string): Promise<void>
  /** Resolves when the text received matches. */
  receives(pattern: RegExp): Promise<void>
  /** Resolves to all that was received, when the connection is closed, by whichever side and way. */
  closed: Promise<string>
}

export function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`
}

/** @param address such as `http://127.0.0.1:5000` */
export async function connectTo(address: string): Promise<Connection> {
  const { hostname, port } = new URL(address)
  const socket = net.connect(Number(port), hostname)
  await once(socket, 'connect')
  return talkOver(socket)
}

export function talkOver(socket: Socket): Connection {
  const closing = closingOf(socket)
  const connection: Connection = {
    socket,
    text: '',
    send: (text) => new Promise((resolve) => void socket.write(text, () => resolve())),
    async receives(pattern) {
      while (!pattern.test(connection.text)) {
        if (socket.closed) throw new Error(`Closed after ${JSON.stringify(connection.text)}`)
        await Promise.race([arrival(socket), closing])
      }
    },
    closed: closing.then(() => connection.text)
  }
  socket.on('data', (chunk) => (connection.text += chunk.toString('latin1')))
  return connection
}

/** Resolves at the end of a connection, be it a reset: tests look at what was received before. */
function closingOf(socket: Socket): Promise<void> {
  socket.on('error', () => {})
  return new Promise((resolve) => socket.on('close', () => resolve()))
}

function arrival(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('data', () => resolve()))
}

/** What became of the requests of busy clients. */
export interface Tally {
  sent: number
  answered: number
  /** Answers with another status than 200. */
  refused: number
  /** Connections closed while a request had no answer. */
  lost: number
  /** Clients that were told by `Connection: close`. */
  told: number
}

/** Keep-alive clients that send their next request at the moment the last is answered, until they are told to stop. */
export class BusyClients {
  readonly tally: Tally = { sent: 0, answered: 0, refused: 0, lost: 0, told: 0 }
  /** Resolves when all their connections are closed. */
  readonly ended: Promise<unknown>
  readonly #request: string
  readonly #waiting: { answers: number; resolve: () => void }[] = []

  constructor(address: string, { count, path }: { count: number; path: string }) {
    const { hostname, port } = new URL(address)
    this.#request = get(path)
    const clients = Array.from({ length: count }, () => this.#keepAsking(net.connect(Number(port), hostname)))
    this.ended = Promise.all(clients)
  }

  /** Resolves when so many answers have come. */
  haveGot(answers: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ answers, resolve }))
  }

  async #keepAsking(socket: Socket): Promise<void> {
    let isOpen = false // a request without an answer
    let text = ''
    const ask = (): void => {
      isOpen = true
      this.tally.sent++
      socket.write(this.#request)
    }
    socket.on('connect', ask)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      const { head, isWhole } = readAnswer(text)
      if (!isWhole) return
      text = ''
      isOpen = false
      if (!this.#isLast(head)) ask()
    })
    await closingOf(socket)
    if (isOpen) this.tally.lost++
  }

  #isLast(head: string): boolean {
    this.tally.answered++
    if (!head.startsWith('HTTP/1.1 200 ')) this.tally.refused++
    for (const { answers, resolve } of this.#waiting) if (this.tally.answered >= answers) resolve()
    const isTold = /\r\nconnection: close/i.test(head)
    if (isTold) this.tally.told++
    return isTold
  }
}

function readAnswer(text: string): { head: string; isWhole: boolean } {
  const end = text.indexOf('\r\n\r\n')
  const head = text.slice(0, Math.max(end, 0))
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1])
  return { head, isWhole: end !== -1 && text.length >= end + 4 + length }
}
