import autocannon from 'autocannon'
import type { CandidateProcess } from './candidate-process.js'
import type { Work } from './workload.js'

export const CONNECTIONS = 32
/** Milliseconds. autocannon ends a run with its next sample, and would idle for the rest of a second by default. */
const SAMPLE = 20

export interface Measured {
  /** Microseconds of the server's CPU per request. */
  cpu: number
  /** Requests per second, a side figure: the driver shares the machine. */
  rate: number
}

/** The work as this server is to be asked: with the cookie of a session that it has just begun, where the work has one. */
export async function prepare(port: number, work: Work): Promise<Work> {
  if (work.login === undefined) return work
  const response = await fetch(`http://127.0.0.1:${port}${work.login}`)
  const [session] = response.headers.getSetCookie()[0]?.split(';') ?? []
  return { ...work, headers: { ...work.headers, cookie: `${work.headers?.cookie}; ${session}` } }
}

/** Asks once and compares, so that nothing is timed that answers something else. */
export async function check(candidate: string, port: number, work: Work): Promise<void> {
  const { status, text } = await ask(port, work)
  if (status !== work.status || !isWanted(work, text))
    throw new Error(`${candidate} answers ${work.name} with ${status} ${text.slice(0, 200)}`)
  if (work.refused === undefined) return
  const refusal = await ask(port, { ...work, body: work.refused })
  if (refusal.status < 400 || refusal.status > 499)
    throw new Error(`${candidate} answers the wrong body of ${work.name} with ${refusal.status}`)
}

async function ask(
  port: number,
  { method, path, headers = {}, body }: Work
): Promise<{ status: number; text: string }> {
  const given = body === undefined ? {} : { body }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...given })
  return { status: response.status, text: await response.text() }
}

function isWanted(work: Work, text: string): boolean {
  if (work.text !== undefined) return text === work.text
  return work.answer === undefined || sameJson(text, work.answer)
}

/** Some candidates indent their JSON. */
function sameJson(text: string, wanted: string): boolean {
  return JSON.stringify(JSON.parse(text)) === wanted
}

export async function measure(server: CandidateProcess, work: Work, amount: number): Promise<Measured> {
  const before = await server.usage()
  const milliseconds = await load(server.port, work, amount)
  const after = await server.usage()
  return { cpu: (after.cpu - before.cpu) / amount, rate: (amount / milliseconds) * 1000 }
}

/**
 * Sends requests over kept-alive connections, each waiting for its answer before the next.
 * @returns milliseconds until the last answer
 */
export async function load(port: number, work: Work, amount: number): Promise<number> {
  const { method, headers = {}, body } = work
  const given = body === undefined ? {} : { body }
  const url = `http://127.0.0.1:${port}${work.path}`
  const options = { url, method, headers, connections: CONNECTIONS, amount, sampleInt: SAMPLE, ...given }
  const fallAsleep = stayAwake()
  const start = performance.now()
  let last = start
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(options, (error: unknown, done) => (error ? reject(error as Error) : resolve(done)))
    run.on('response', () => {
      last = performance.now()
    })
  }).finally(fallAsleep)
  const right = work.status < 300 ? result['2xx'] : result.non2xx
  if (result.errors > 0 || right !== amount) throw new Error(`Not every request was answered: ${work.name}`)
  return last - start
}

/**
 * Keeps this process busy. To wake one that sleeps takes microseconds of the kernel's, which are charged to the server whose answer
 * wakes it: to a slower one more often, and to none whose clients are on other machines.
 * @returns ends it
 */
function stayAwake(): () => void {
  let isOver = false
  const turn = (): void => {
    if (!isOver) setImmediate(turn)
  }
  turn()
  return () => {
    isOver = true
  }
}
