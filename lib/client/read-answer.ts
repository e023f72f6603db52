/** How the body of a successful answer is read, whatever its Content-Type says. */
export type BodyForm = 'bytes' | 'text' | 'stream'

const BODILESS = new Set([204, 205, 304])
const JSON_TYPE = /^[^;]*[/+]json\b/i
const TEXT_TYPE = /^(text\/|[^;]*(\bxml|javascript|x-www-form-urlencoded))/i

/**
 * The body of an answer: JSON parsed, text as a string, anything else as bytes; undefined where there is none.
 * @param form of a successful answer; errors are read by their type
 * @throws SyntaxError for JSON that is none, and what reading the body throws
 */
export async function readBody(response: Response, form: BodyForm | undefined): Promise<unknown> {
  if (BODILESS.has(response.status)) return undefined
  const type = response.headers.get('content-type') ?? ''
  const wanted = response.ok ? form : undefined
  if (wanted === 'stream') return response.body
  if (wanted === 'text' || (!wanted && TEXT_TYPE.test(type))) return response.text()
  if (wanted === undefined && JSON_TYPE.test(type)) return parseJson(await response.text())
  const bytes = new Uint8Array(await response.arrayBuffer())
  return wanted || bytes.length > 0 ? bytes : undefined
}

/** The answer to HEAD has the type of a body, and none. */
function parseJson(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text)
}
