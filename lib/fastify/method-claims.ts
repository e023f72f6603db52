import type { FastifyInstance, RouteOptions } from 'fastify'
import { fileRouteOf } from '../contract/instance-state.js'
import type { ManifestRoute, Segment } from '../contract/manifest.js'
import { PatternTree } from '../patterns/pattern-tree.js'
import { parseFastifyPath } from '../patterns/pattern.js'
import { routerOptionsOf } from '../patterns/read-path.js'

/** A pattern and the methods it is registered with. */
export interface Claim {
  segments: readonly Segment[]
  methods: ReadonlySet<string>
}

/** A path of a route file. */
export interface FileClaim extends Claim {
  methods: Set<string>
}

/** All methods of the files that need more than they have. */
type Wanted = Map<FileClaim, Set<string>>

type Losers = ReadonlyMap<Claim, readonly FileClaim[]>

/**
 * What else is registered on an app, to tell which methods a route file must be registered with besides those that it
 * serves: where it does not know a method, the router would go on to a less specific route. Such a file refuses the method,
 * and so it claims the method against files that are more specific.
 */
export class MethodClaims {
  readonly #caseSensitive: boolean
  readonly #others: Claim[] = []
  readonly #notFound: (readonly Segment[])[] = []
  #isAsked = false

  constructor({ caseSensitive }: { caseSensitive: boolean }) {
    this.#caseSensitive = caseSensitive
  }

  get count(): number {
    return this.#others.length + this.#notFound.length + Number(this.#isAsked)
  }

  add(claim: Claim): void {
    this.#others.push(claim)
  }

  /** Requests that ask for something by a header, such as a version, match no route without it: they get 404 of files, too. */
  askByHeader(): void {
    this.#isAsked = true
  }

  /** Below a prefix with a not-found handler of its own, hooks and error handlers are those of its plugin. */
  addNotFound(prefix: string): void {
    this.#notFound.push([...parseFastifyPath(prefix), { kind: 'rest', name: '*', optional: true }])
  }

  /** The methods that each path still has to be registered with; paths that need none are left out. */
  missing(files: readonly FileClaim[], all: readonly string[]): ReadonlyMap<FileClaim, readonly string[]> {
    const wanted: Wanted = new Map()
    for (const file of this.#isAsked ? files : this.#belowNotFound(files)) wanted.set(file, new Set(all))
    spread(wanted, this.#losers(files))
    const missing = new Map<FileClaim, readonly string[]>()
    for (const [file, methods] of wanted) {
      const more = [...methods].filter((method) => !file.methods.has(method))
      if (more.length > 0) missing.set(file, more)
    }
    return missing
  }

  #belowNotFound(files: readonly FileClaim[]): readonly FileClaim[] {
    if (this.#notFound.length === 0) return []
    const tree = this.#treeOf(files)
    return this.#notFound.flatMap((prefix) => tree.overlapping(prefix))
  }

  /** By claim, the files that must not lose a path to it. */
  #losers(files: readonly FileClaim[]): Losers {
    const tree = this.#treeOf([...files, ...this.#others])
    const losers = new Map<Claim, FileClaim[]>()
    for (const file of files) {
      for (const heir of tree.heirsOf(file.segments)) {
        const known = losers.get(heir)
        if (known === undefined) losers.set(heir, [file])
        else known.push(file)
      }
    }
    return losers
  }

  #treeOf<Item extends Claim>(claims: readonly Item[]): PatternTree<Item> {
    const tree = new PatternTree<Item>({ caseSensitive: this.#caseSensitive })
    for (const claim of claims) tree.add(claim.segments, claim)
    return tree
  }
}

/** Each file gets the methods of those it would lose a path to, and so on. */
function spread(wanted: Wanted, losers: Losers): void {
  const open = [...losers.keys()]
  for (let claim = open.pop(); claim !== undefined; claim = open.pop()) {
    const methods = wanted.get(claim as FileClaim) ?? claim.methods
    for (const file of losers.get(claim) ?? []) {
      const own = wanted.get(file) ?? new Set(file.methods)
      wanted.set(file, own)
      const before = own.size
      for (const method of methods) own.add(method)
      if (own.size > before) open.push(file)
    }
  }
}

/** Watches what is registered on an app from now on, but for its own files. */
export function watchClaims(app: FastifyInstance, routes: readonly ManifestRoute[]): MethodClaims {
  const claims = new MethodClaims(routerOptionsOf(app))
  const own = new Set<unknown>(routes)
  app.addHook('onRoute', (route: RouteOptions) => {
    if (own.has(fileRouteOf(route))) return
    claims.add({ segments: parseFastifyPath(route.url), methods: new Set([route.method].flat()) })
    if (Object.keys(route.constraints ?? {}).some((name) => name !== 'host')) claims.askByHeader()
  })
  return claims
}
