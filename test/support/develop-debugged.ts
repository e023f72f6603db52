import { once } from 'node:events'
import { createRequire } from 'node:module'

type Socketlike = NodeJS.EventEmitter & { send(text: string): void; terminate(): void }
const WebSocket = createRequire(import.meta.url)('ws') as new (url: string) => Socketlike

type Message = Readonly<Record<string, unknown>>

/** A debugger's end of the inspector protocol. */
export class Debugged {
  readonly #socket: Socketlike
  #messages: Message[] = []
  #wake: () => void = () => undefined
  #id = 0

  constructor(socket: Socketlike) {
    this.#socket = socket
    socket.on('message', (data) => {
      this.#messages.push(JSON.parse(String(data)) as Message)
      this.#wake()
    })
  }

  static async connect(url: string): Promise<Debugged> {
    const socket = new WebSocket(url)
    await once(socket, 'open')
    return new Debugged(socket)
  }

  async ask(method: string, params: object = {}): Promise<void> {
    const id = ++this.#id
    this.#socket.send(JSON.stringify({ id, method, params }))
    await this.#message((message) => message['id'] === id)
  }

  /** The line, from 0, at which the program is held. */
  async paused(): Promise<number> {
    const message = await this.#message(({ method }) => method === 'Debugger.paused')
    const { callFrames } = message['params'] as { callFrames: { location: { lineNumber: number } }[] }
    return callFrames[0]?.location.lineNumber ?? -1
  }

  close(): void {
    this.#socket.terminate()
  }

  async #message(isWanted: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.#messages.find(isWanted)
      this.#messages = this.#messages.filter((message) => message !== found)
      if (found !== undefined) return found
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
