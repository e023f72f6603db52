/** An answer, and how long it took. */
export interface Answer {
  status: number
  headers: Headers
  body: any
  ms: number
}

export interface Question {
  method?: string
  body?: unknown
  token?: string
  headers?: Record<string, string>
  /** Milliseconds after which nobody waits any more. */
  limit?: number
}

/** One request; the body is sent as JSON, a FormData as a form. */
export async function ask(url: string, question: Question = {}): Promise<Answer> {
  const { method = question.body === undefined ? 'GET' : 'POST', body, token, headers, limit = 30_000 } = question
  const isForm = body instanceof FormData
  const begun = performance.now()
  const response = await fetch(url, {
    method,
    headers: {
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(limit)
  })
  const text = await response.text()
  const ms = performance.now() - begun
  return { status: response.status, headers: response.headers, body: parse(text), ms }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Whether a body is an error as docs/errors.md has it: `{ error: { code, message }, meta }`, or flat. */
export function isErrorShape(body: any): boolean {
  const { error, message, statusCode } = body ?? {}
  if (statusCode !== undefined) return false // Fastify's own shape
  if (typeof error === 'string') return typeof message === 'string'
  return typeof error?.code === 'string' && typeof error.message === 'string'
}

/** A form with one file. */
export function fileOf(size: number): FormData {
  const form = new FormData()
  form.set('file', new File([new Uint8Array(size)], 'file.bin', { type: 'application/octet-stream' }))
  return form
}
