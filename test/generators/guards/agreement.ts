import fc from 'fast-check'
import { run } from './application.js'
import { guardsOf, resolve } from './oracle.js'
import { aim, targetOf, type Aim } from './paths.js'
import { world, type World } from './world.js'

/** Requests that share an application. */
const SHARE = 200

export interface Outcome {
  failures: number
  handled: number
  /** Of those that were handled, the ones behind a guard. */
  guarded: number
  /** A line of figures, and the smallest case that failed. */
  text: string
}

interface Counts {
  applications: number
  refusedAtBoot: number
  cases: number
  handled: number
  guarded: number
}

/** So many failures are told; the first ones are enough to see what is wrong. */
const TOLD = 20

/**
 * Guard agreement: if a handler ran, and the path as it sees it lies below a guarded prefix, then the middleware of that
 * prefix ran. A case is a request. What failed is told as it stands: one request to one application is small.
 */
export async function guardAgreement({ seed, cases }: { seed: number; cases: number }): Promise<Outcome> {
  const counts: Counts = { applications: 0, refusedAtBoot: 0, cases: 0, handled: 0, guarded: 0 }
  const aims = fc.array(aim, { minLength: SHARE, maxLength: SHARE, size: 'max' })
  const fails: string[] = []
  const property = fc.asyncProperty(world, aims, async (chosen, requests) => {
    if (counts.cases < cases) fails.push(...(await check(chosen, requests, counts)))
  })
  // trees that are refused at boot count for nothing
  await fc.assert(property, { seed, numRuns: Math.ceil((2 * cases) / SHARE) })
  const { applications, refusedAtBoot, handled, guarded } = counts
  const figures = [
    `seed ${seed}: ${counts.cases} requests to ${applications} applications (${refusedAtBoot} more were refused at boot)`,
    `${handled} were handled, ${guarded} of them behind guards`,
    `${fails.length} failures`
  ]
  return { failures: fails.length, handled, guarded, text: [figures.join('; '), ...fails.slice(0, TOLD)].join('\n') }
}

/** What went wrong, one text for each request. */
async function check(chosen: World, requests: readonly Aim[], counts: Counts): Promise<string[]> {
  const running = await run(chosen)
  const fails: string[] = []
  if (running === undefined) {
    counts.refusedAtBoot++
    return fails
  }
  counts.applications++
  try {
    for (const request of requests) {
      const target = targetOf(request, running.skeletons)
      const { ran, seen } = await running.ask(target)
      counts.cases++
      if (seen === undefined) continue
      counts.handled++
      const guards = guardsOf(resolve(seen), chosen.keys, chosen.router)
      if (guards.length > 0) counts.guarded++
      const missing = guards.filter((name) => !ran.has(name))
      if (missing.length > 0) {
        const what = `GET ${target}: ${missing.join(', ')} did not run; the handler saw ${JSON.stringify(seen)}`
        fails.push(`${what}\n  in ${describe(chosen)}`)
      }
    }
  } finally {
    await running.close()
  }
  return fails
}

function describe({ plugins, keys, ...rest }: World): string {
  const patterns = plugins.map(({ scope, own }) => [...scope, ...own].map(({ pattern }) => `/${pattern}`).join(''))
  const map = Object.fromEntries(
    keys.map(({ segments, isPublic }) => [`/${segments.join('/')}`, isPublic ? 'public' : 'guarded'])
  )
  return JSON.stringify({ ...rest, plugins: patterns, map })
}
