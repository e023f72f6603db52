import type { Middleware } from '../contract/middleware.js'
import type { Request, Response } from '../contract/request.js'
import { isThenable } from '../options/values.js'
import { asFailure } from '../errors/readable-error.js'
import { routeNotFound } from '../errors/refusals.js'
import { mayNotRun, type BoundChain } from './chain.js'
import { traceMiddleware } from './trace-middleware.js'

type Done = (error?: unknown) => void

/**
 * Runs a chain. `done` is called at most once: without an argument when every middleware has passed, with an error
 * (never a falsy one) when one failed; not at all when a middleware has answered. By then `request.url` is whole again
 * and `baseUrl` is empty. A url that a middleware changed stays changed.
 */
export type ChainRunner = (request: Request, response: Response, done: Done) => void

/** A call to `next`, or an error, that came too late to have an effect. */
export interface LateNext {
  /** The name of the middleware's function; empty for an anonymous one. */
  middleware: string
  /** Its key in the map; undefined for a route's own. */
  prefix: string | undefined
  /** What was thrown or handed to `next` after the middleware had already passed the request on. */
  error: unknown
}

export interface ChainOptions {
  /** Whether nothing behind may add to the answer. Default: once the head has left. */
  isOver?: (response: Response) => boolean
  /** Told when a middleware calls `next` twice, or fails after calling it. */
  onLateNext?: (late: LateNext, request: Request) => void
  /** The keys of the conditional steps that run for a request. Without it all of them do. */
  covering?: (request: Request) => ReadonlySet<string>
  /** The url as middleware sees it. */
  canonical?: (url: string) => string
}

/** One middleware of a chain, flattened for the walk. */
interface ChainEntry {
  readonly run: Middleware
  readonly depth: number
  readonly prefix: string | undefined
  readonly conditional: boolean
}

/** Puts a chain and the route's own middleware together, once, at boot. null when nothing would run. */
export function composeChain(
  chain: BoundChain,
  ownMiddleware: readonly Middleware[],
  options: ChainOptions = {}
): ChainRunner | null {
  const entries: ChainEntry[] = chain.steps.flatMap((step) =>
    step.middleware.map((run) => entryOf(run, { ...step, conditional: mayNotRun(step) }))
  )
  entries.push(...ownMiddleware.map((run) => entryOf(run, { depth: 0, prefix: undefined, conditional: false })))
  if (entries.length === 0) return null
  const { covering } = options
  if (covering === undefined || !entries.some((entry) => entry.conditional)) {
    const plan: Plan = { entries, options }
    return (request, response, done) => new ChainRun(plan, request, response, done).enter(0)
  }
  return (request, response, done) => {
    // Evaluated before the first middleware runs, so that a middleware cannot change `url` or `params` to skip a later one.
    const keys = covering(request)
    const due = entries.filter(({ conditional, prefix }) => !conditional || keys.has(prefix as string))
    if (due.length === 0) done()
    else new ChainRun({ entries: due, options }, request, response, done).enter(0)
  }
}

function entryOf(run: Middleware, { depth, prefix, conditional }: Omit<ChainEntry, 'run'>): ChainEntry {
  return { run: traceMiddleware(run, prefix), depth, prefix, conditional }
}

interface Plan {
  readonly entries: readonly ChainEntry[]
  readonly options: ChainOptions
}

/** One request on its way through a chain. One object per request, one function per middleware, no promise. */
class ChainRun {
  private readonly plan: Plan
  private readonly request: Request
  private readonly response: Response
  private readonly done: Done
  /** As it was sent, and as the first middleware sees it. */
  private readonly sent: string
  private readonly shown: string
  /** The whole url, and what of it the current middleware sees; the same at depth 0. */
  private full: string
  private seen: string
  private depth = 0

  constructor(plan: Plan, request: Request, response: Response, done: Done) {
    this.plan = plan
    this.request = request
    this.response = response
    this.done = done
    this.sent = request.url
    this.shown = plan.options.canonical?.(this.sent) ?? this.sent
    this.full = this.shown
    this.seen = this.shown
    if (this.shown !== this.sent) this.respell()
  }

  enter(index: number): void {
    const entry = this.plan.entries[index]
    if (entry === undefined) return this.leave()
    if (entry.depth !== this.depth) this.mount(entry.depth)
    let passed = false
    // One `next` per middleware: a late second call must not advance the chain.
    const next = (word?: unknown): void => {
      if (passed) return this.tooLate(entry, word)
      passed = true
      this.pass(index, word)
    }
    try {
      const result = entry.run(this.request, this.response, next)
      if (isThenable(result)) result.then(undefined, (error: unknown) => next(asFailure(error)))
    } catch (error) {
      next(asFailure(error))
    }
  }

  /** Routers among the middleware match the text of the url, as `use()` does, so an escape must not hide it from them. */
  private respell(): void {
    const { request } = this
    const original = request.originalUrl
    request.originalUrl = original ?? this.sent
    request.url = this.shown
  }

  private pass(index: number, word: unknown): void {
    const { plan, response } = this
    const refused = this.noteRewrite()
    const leaves = word === 'router' || (word === 'route' && plan.entries[index]?.prefix === undefined)
    if (word && word !== 'route' && !leaves) return this.leave(word)
    if (plan.options.isOver?.(response) ?? response.headersSent) return
    if (refused !== undefined) return this.leave(refused)
    // As in Express: `'route'` skips the rest of a route, its handler included, and `'router'` all routes.
    if (leaves) return this.leave(routeNotFound())
    this.enter(index + 1)
  }

  /** Shows the middleware of a prefix its part of the url, as Express does for what is mounted. */
  private mount(depth: number): void {
    const { request } = this
    // Reads what is stored, or the url before it is cut for the first time.
    const original = request.originalUrl
    request.originalUrl = original ?? this.full
    const { base, rest } = stripSegments(this.full, depth)
    request.baseUrl = base
    request.url = rest
    this.seen = rest
    this.depth = depth
  }

  /** @returns the error for a url that is no text, which neither a middleware nor the router could read */
  private noteRewrite(): Error | undefined {
    const { request } = this
    if (request.url === this.seen) return undefined
    if (typeof request.url !== 'string') {
      const error = new TypeError(
        `A middleware has set request.url to a value of type ${typeof request.url}: set it to a string`
      )
      request.url = this.seen
      return error
    }
    this.full = this.depth === 0 ? request.url : request.baseUrl + request.url
    this.seen = request.url
    return undefined
  }

  private leave(error?: unknown): void {
    const { request } = this
    if (this.depth !== 0) {
      request.url = this.full
      request.baseUrl = ''
    }
    if (this.full === this.shown && this.shown !== this.sent) request.url = this.sent
    if (error === undefined) this.done()
    else this.done(error)
  }

  private tooLate({ run, prefix }: ChainEntry, error: unknown): void {
    this.plan.options.onLateNext?.({ middleware: run.name, prefix, error }, this.request)
  }
}

export interface StrippedUrl {
  /** The first segments as they came over the wire, without a slash at the end. */
  base: string
  /** What follows, beginning with a slash; query included. */
  rest: string
}

const SLASH = 47
const QUESTION_MARK = 63

/**
 * Takes the first `depth` segments off a url, still encoded: what they mean was decided by the router. Slashes in a row
 * count as one (a host may let them), and a url that is no path (`*`, absolute form) is left whole.
 */
function stripSegments(url: string, depth: number): StrippedUrl {
  if (depth === 0 || url.charCodeAt(0) !== SLASH) return { base: '', rest: url }
  let position = 0
  for (let left = depth; left > 0; left--) {
    while (url.charCodeAt(position) === SLASH) position++
    position = endOfSegment(url, position)
  }
  const rest = url.slice(position)
  return { base: url.slice(0, position), rest: rest.charCodeAt(0) === SLASH ? rest : `/${rest}` }
}

function endOfSegment(url: string, start: number): number {
  for (let i = start; i < url.length; i++) {
    const code = url.charCodeAt(i)
    if (code === SLASH || code === QUESTION_MARK) return i
  }
  return url.length
}
