import { type Agent, request as sendRequest, type OutgoingHttpHeaders } from 'node:http'

export interface Call {
  method: string
  path: string
  headers?: OutgoingHttpHeaders
  body?: string | Buffer
  /** The client's own address, one of 127.0.0.0/8. */
  from?: string
}

export interface Answer {
  status: number
  headers: NodeJS.Dict<string | string[]>
  text: string
  body: any
  /** How often it had to be sent on a new connection, because the server had closed the one that was kept open. */
  sentAgain: number
}

/**
 * Sends a request as browsers and other clients of HTTP do: one on a kept connection that the server closes without a byte of an
 * answer is sent again on a new one, since the server has closed an idle connection and has not seen it.
 */
export async function exchange(address: string, agent: Agent | undefined, call: Call, sentAgain = 0): Promise<Answer> {
  try {
    return { ...(await exchangeOnce(address, agent, call)), sentAgain }
  } catch (error) {
    if (!(error instanceof ClosedWhileIdle)) throw error
    return exchange(address, agent, call, sentAgain + 1)
  }
}

class ClosedWhileIdle extends Error {}

function exchangeOnce(address: string, agent: Agent | undefined, call: Call): Promise<Omit<Answer, 'sentAgain'>> {
  const { method, path, headers = {}, body, from } = call
  return new Promise((resolve, reject) => {
    const request = sendRequest(`${address}${path}`, {
      method,
      agent: agent ?? false,
      headers: { ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }), ...headers },
      ...(from !== undefined && { localAddress: from })
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = request.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '')
      reject(isClosed ? new ClosedWhileIdle() : new Error(`${method} ${path}: ${error.message}`))
    })
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.on('error', (error) => reject(new Error(`${method} ${path} is cut off: ${error.message}`)))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parse(text) })
      })
    })
    request.end(body)
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A call with a JSON body. */
export function json(method: string, path: string, body: object, headers: OutgoingHttpHeaders = {}): Call {
  return { method, path, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

export const query = (text: string): Call => json('POST', '/graphql', { query: text })
