import { request as sendRequest, type IncomingMessage } from 'node:http'
import { once } from 'node:events'

/** Clients that read event streams, and connect again when one has come to its end, as an EventSource does. */
export class EventStreams {
  opened = 0
  /** Streams that came to their end, with the event that says so. */
  ended = 0
  readonly failed: string[] = []
  readonly #address: string
  readonly #open = new Set<IncomingMessage>()
  readonly #running: Promise<unknown>
  #isStopped = false

  constructor(address: string, clients: number) {
    this.#address = address
    this.#running = Promise.all(Array.from({ length: clients }, () => this.#run()))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const response of this.#open) response.destroy()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#read()
      } catch (error) {
        if (!this.#isStopped) this.failed.push(error instanceof Error ? error.message : String(error))
      }
    }
  }

  async #read(): Promise<void> {
    const request = sendRequest(`${this.#address}/api/cluster/events`, { agent: false }).end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    if (response.statusCode !== 200) throw new Error(`an event stream is answered with ${response.statusCode}`)
    this.opened++
    this.#open.add(response)
    if (this.#isStopped) response.destroy()
    try {
      let text = ''
      for await (const piece of response.setEncoding('utf8')) text = `${text}${piece}`.slice(-40)
      if (!text.endsWith('data: end\n\n')) throw new Error(`an event stream ends with ${JSON.stringify(text)}`)
      this.ended++
    } finally {
      this.#open.delete(response)
    }
  }
}
