import assert from 'node:assert/strict'
import type { ApiDocument } from './example-app.js'
import { checkRow } from './rows.js'

export interface Ask {
  /** The status that the server is to answer with. */
  status: number
  token?: string | undefined
  /** Sent as JSON; a FormData as a form; text as it is. */
  body?: unknown
  headers?: Record<string, string>
  /** Whether the document forbids the request. Default false. */
  isWrong?: boolean
}

export interface Answer {
  headers: Headers
  body: any
}

/** What a proxy says of one request, in the header `sl-violations`. */
interface Violation {
  location: string[]
  message: string
  severity: string
}

/** Requests through a validation proxy, each a row: the answer is as the document has it, and so is the request unless it is wrong. */
export class Tour {
  readonly #title: string
  readonly #address: string
  /** `get /api/users 200` of all answers so far. */
  readonly seen = new Set<string>()
  readonly #templates: { template: string; pattern: RegExp }[]

  constructor(title: string, address: string, { paths }: ApiDocument) {
    this.#title = title
    this.#address = address
    // the plain ones first: they win over those with parameters
    this.#templates = Object.keys(paths)
      .toSorted((a, b) => a.split('{').length - b.split('{').length)
      .map((template) => ({ template, pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }))
  }

  /** @param call method and path: `GET /api/users?page=2` */
  async ask(call: string, ask: Ask): Promise<Answer> {
    let answer: Answer = { headers: new Headers(), body: undefined }
    const check = async (): Promise<void> => {
      const { violations, status, ...rest } = await this.#send(call, ask)
      answer = rest
      assert.equal(status, ask.status, JSON.stringify(rest.body))
      assert.notEqual(rest.headers.get('content-type'), 'application/problem+json', 'the proxy has answered by itself')
      const [ofRequest, ofAnswer] = ['request', 'response'].map((part) =>
        violations.filter(({ location }) => location[0] === part).map(textOf)
      )
      assert.deepEqual(ofAnswer, [], 'what the answer breaks')
      if (ask.isWrong === true) assert.notDeepEqual(ofRequest, [], 'the document allows the request')
      else assert.deepEqual(ofRequest, [], 'what the request breaks')
    }
    await checkRow(this.#title, {
      rule: `${call.slice(0, 70)} is answered with ${ask.status}, as the document has it`,
      check
    })
    return answer
  }

  /** The answer to a request, and all that the proxy finds wrong. */
  async violationsOf(call: string, ask: Omit<Ask, 'status'> = {}): Promise<string[]> {
    return (await this.#send(call, ask)).violations.map(textOf)
  }

  async #send(call: string, { token, body, headers = {} }: Omit<Ask, 'status'>) {
    const [method = '', path = ''] = call.split(' ')
    const isJson = body !== undefined && !(body instanceof FormData)
    const answer = await fetch(`${this.#address}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(isJson && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers
      },
      ...(body !== undefined && { body: toBody(body) })
    })
    const text = await answer.text()
    this.seen.add(`${method.toLowerCase()} ${this.#templateOf(path)} ${answer.status}`)
    const violations = JSON.parse(answer.headers.get('sl-violations') ?? '[]') as Violation[]
    return { status: answer.status, headers: answer.headers, body: parse(text), violations }
  }

  #templateOf(path: string): string {
    const [plain = ''] = path.split('?')
    return this.#templates.find(({ pattern }) => pattern.test(plain))?.template ?? plain
  }
}

function toBody(body: unknown): string | FormData {
  return body instanceof FormData || typeof body === 'string' ? body : JSON.stringify(body)
}

function parse(text: string): unknown {
  return /^[{["]/.test(text) ? JSON.parse(text) : text
}

function textOf({ location, message, severity }: Violation): string {
  return `${severity} ${location.join('.')}: ${message}`
}
