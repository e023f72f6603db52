import { Agent, get } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds after which the answer to an edit will not come. */
const PATIENCE = 30_000

export interface Answer {
  status: number
  body: Readonly<Record<string, number>>
}

const agent = new Agent({ keepAlive: true })

export function ask(port: number, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, agent }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += String(chunk)))
      response.on('error', reject)
      response.on('end', () => {
        const isJson = response.headers['content-type']?.includes('json') === true
        resolve({ status: response.statusCode ?? 0, body: isJson ? (JSON.parse(text) as Answer['body']) : {} })
      })
    }).on('error', reject)
  })
}

/**
 * Milliseconds until an answer is as wanted; NaN when it does not come. Requests that are refused meanwhile are not counted here.
 */
export async function until(
  port: number,
  path: string,
  isWanted: (answer: Answer) => boolean,
  patience = PATIENCE
): Promise<number> {
  const begun = performance.now()
  for (;;) {
    const answer = await ask(port, path).catch(() => undefined)
    if (answer !== undefined && isWanted(answer)) return performance.now() - begun
    if (performance.now() - begun > patience) return Number.NaN
    await wait(1)
  }
}

/** What clients have seen. */
export interface Seen {
  requests: number
  refused: number
  failed: number
  /** Answers of an older number than the same client had before. */
  stale: number
}

/** So many clients ask for a number that only grows, until they are stopped. */
export function startClients(count: number, { port, path, member }: { port: number; path: string; member: string }) {
  const seen: Seen = { requests: 0, refused: 0, failed: 0, stale: 0 }
  const load = { isOver: false }
  const clients = Array.from({ length: count }, async () => {
    let newest = 0
    while (!load.isOver) {
      seen.requests++
      try {
        const { status, body } = await ask(port, path)
        const number = body[member] ?? 0
        if (status !== 200) seen.failed++
        else if (number < newest) seen.stale++
        newest = Math.max(newest, number)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') seen.refused++
        else seen.failed++
        await wait(5)
      }
    }
  })
  return async (): Promise<Seen> => {
    load.isOver = true
    await Promise.all(clients)
    return seen
  }
}
