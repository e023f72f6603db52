import { request as sendRequest, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { Answer } from './exchange.js'

const BOUNDARY = 'twinroute-cluster'

export interface SlowUpload {
  token: string
  /** Bytes of the file. */
  size: number
  /** Resolves when the rest of the file may be sent. */
  until: Promise<unknown>
}

/** Sends a file in a form: a half of it at once, the other one when it may, in small pieces. */
export async function uploadSlowly(
  address: string,
  { token, size, until }: SlowUpload
): Promise<Pick<Answer, 'status' | 'text'>> {
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="slow.txt"\r\ncontent-type: text/plain\r\n\r\n`
  const tail = `\r\n--${BOUNDARY}--\r\n`
  const request = sendRequest(`${address}/api/uploads`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      'content-length': head.length + size + tail.length
    }
  })
  const answer = once(request, 'response') as Promise<[IncomingMessage]>
  answer.catch(() => {}) // while the file is sent; it is awaited below
  request.write(head + 'x'.repeat(size / 2))
  await until
  for (let sent = size / 2; sent < size; sent += size / 8) {
    request.write('x'.repeat(size / 8))
    await wait(20)
  }
  request.end(tail)
  const [response] = await answer
  const pieces = await response.setEncoding('utf8').toArray()
  return { status: response.statusCode ?? 0, text: pieces.join('') }
}

/** Clients that send one file after the other. */
export class Uploads {
  answered = 0
  readonly failed: string[] = []
  readonly #running: Promise<unknown>
  #isStopped = false

  constructor(address: string, token: string, clients: number) {
    this.#running = Promise.all(Array.from({ length: clients }, () => this.#run(address, token)))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #run(address: string, token: string): Promise<void> {
    const size = 256 * 1024
    while (!this.#isStopped) {
      try {
        const { status, text } = await uploadSlowly(address, { token, size, until: wait(500) })
        if (status === 200 && text.includes(`"size":${size}`)) this.answered++
        else this.failed.push(`${status} ${text.slice(0, 200)}`)
      } catch (error) {
        this.failed.push(error instanceof Error ? error.message : String(error))
      }
    }
  }
}

export interface SlowReading {
  /** Resolves at the first piece of the answer. */
  begun: Promise<unknown>
  /** The bytes of all of it. */
  bytes: Promise<number>
}

/** Reads the first piece of an answer, and the others when it may. */
export function readSlowly(address: string, path: string, until: Promise<unknown>): SlowReading {
  const request = sendRequest(`${address}${path}`, { agent: false }).end()
  const begun = once(request, 'response') as Promise<[IncomingMessage]>
  const read = async (): Promise<number> => {
    const [response] = await begun
    let bytes = 0
    for await (const piece of response) {
      if (bytes === 0) await until
      bytes += (piece as Buffer).length
    }
    return bytes
  }
  return { begun, bytes: read() }
}
