import fc from 'fast-check'
import { ANY_NAME, ANY_NAMES, word, type Skeleton } from './paths.js'

/** One segment of a route's pattern: how the router is told of it, and how its handler sees it. */
export interface PatternSegment {
  pattern: string
  /** The segments it stands for, given the handler's parameters: each one whole, or a text in which slashes separate. */
  seen: (params: Readonly<Record<string, string>>) => readonly Seen[]
  skeleton: Skeleton
  /** Nothing may follow. */
  isLast?: boolean
}

/** A parameter alone is one segment, whatever it holds; a catch-all is a text. */
export type Seen = { segment: string } | { text: string }

const escaped = (name: string): string => name.replaceAll(':', '::')

/** Parameters are called by the place of their segment, since names differ within a path. */
type Maker = (index: number) => PatternSegment

const staticSegment: fc.Arbitrary<Maker> = fc.tuple(word, fc.constantFrom('NFC', 'NFD')).map(([name, form]) => {
  const text = name.normalize(form)
  return () => ({ pattern: escaped(text), seen: () => [{ segment: text }], skeleton: [name] })
})

/** `P` and `Q` are replaced by names. No group captures: the router would give its text to the next parameter. */
const PARAMETERS = [
  ':P',
  ':P?',
  ':P(^[a-z]+$)',
  ':P(^(?:(?:ad)(?:min|x)|a)$)',
  ':P(^(?:(?:(?:ad)min)|[a-z.]*)$)',
  ':P(^a\\(?[a-z]*$)',
  ':P([^/]+)',
  ':P:Q'
] as const

const parameter: fc.Arbitrary<Maker> = fc.constantFrom(...PARAMETERS).map((form) => (index) => ({
  pattern: named(form, index),
  seen: (params) => {
    const value = params[form === ':P:Q' ? `p${index}:q${index}` : `p${index}`]
    return value === undefined ? [] : [{ segment: value }]
  },
  skeleton: [ANY_NAME],
  isLast: form === ':P?'
}))

function named(form: string, index: number): string {
  return form.replaceAll('P', `p${index}`).replaceAll('Q', `q${index}`)
}

/** Several parts in a segment, which the handler puts together again. */
const PARTS: readonly { form: string; join: (p: string, q: string) => string; aims: string }[] = [
  { form: ':P-:Q', join: (p, q) => `${p}-${q}`, aims: 'a-b' },
  { form: ':P.:Q', join: (p, q) => `${p}.${q}`, aims: 'x.y' },
  { form: 'ad:P', join: (p) => `ad${p}`, aims: 'admin' },
  { form: ':P(^ad)min', join: (p) => `${p}min`, aims: 'admin' },
  { form: ':P(^ad):Q(min$)', join: (p, q) => `${p}${q}`, aims: 'admin' },
  { form: 'v:P', join: (p) => `v${p}`, aims: 'v1' }
]

const parts: fc.Arbitrary<Maker> = fc.constantFrom(...PARTS).map(({ form, join, aims }) => (index) => ({
  pattern: named(form, index),
  seen: (params) => [{ segment: join(String(params[`p${index}`]), String(params[`q${index}`])) }],
  skeleton: [aims]
}))

const wildcard: fc.Arbitrary<Maker> = fc.constantFrom('*', '*', 'ad*', 'a*').map((pattern) => () => ({
  pattern,
  seen: (params) => [{ text: `${pattern.slice(0, -1)}${params['*']}` }],
  skeleton: pattern === '*' ? [ANY_NAMES] : ['admin', ANY_NAMES],
  isLast: true
}))

/** A route that comes from no file. */
export interface PluginRoute {
  scope: readonly PatternSegment[]
  own: readonly PatternSegment[]
}

const scopeSegment = fc.oneof({ weight: 4, arbitrary: staticSegment }, parameter)
const anySegment = fc.oneof(
  { weight: 5, arbitrary: staticSegment },
  { weight: 3, arbitrary: parameter },
  { weight: 1, arbitrary: parts },
  { weight: 2, arbitrary: wildcard }
)

const pluginRoute: fc.Arbitrary<PluginRoute> = fc
  .tuple(
    fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(scopeSegment, { maxLength: 2 })),
    fc.array(anySegment, { minLength: 1, maxLength: 3 })
  )
  .map(([scope, own]) => {
    const around = scope.map((make, index) => make(index)).filter(({ isLast }) => !isLast)
    const made = own.map((make, index) => make(scope.length + index))
    const last = made.findIndex(({ isLast }) => isLast)
    return { scope: around, own: last === -1 ? made : made.slice(0, last + 1) }
  })

const FILE_SEGMENTS = ['[p]', '[p-q]', 'v[p]', '[p].json', '[p]-[q]', 'a[p]', '(group)'] as const
const fileSegment = fc.oneof({ weight: 4, arbitrary: word }, fc.constantFrom(...FILE_SEGMENTS))

/** Folders of a route file; names of parameters differ. */
const fileRoute = fc
  .tuple(fc.array(fileSegment, { maxLength: 3 }), fc.constantFrom('', '', '[...rest]', '[[...rest]]'))
  .map(([folders, rest]) => [
    ...folders.map((folder, index) => folder.replaceAll(/\[([^\]]+)\]/g, `[$1${index}]`)),
    ...(rest === '' ? [] : [rest])
  ])

const KEY_SEGMENTS = ['[k]', 'v[k]', '[k].y', '[k]-[l]', '[k]n'] as const
const keySegment = fc.oneof({ weight: 5, arbitrary: word }, fc.constantFrom(...KEY_SEGMENTS))

/** A prefix of the map; `isPublic` for an empty list. */
export interface Key {
  segments: readonly string[]
  isPublic: boolean
}

const key: fc.Arbitrary<Key> = fc.record({
  segments: fc
    .array(keySegment, { maxLength: 3 })
    .map((names) => names.map((name, index) => name.replaceAll(/\[([^\]]+)\]/g, `[$1${index}]`))),
  isPublic: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true))
})

export interface RouterChoice {
  caseSensitive: boolean
  ignoreTrailingSlash: boolean
  ignoreDuplicateSlashes: boolean
  useSemicolonDelimiter: boolean
}

/** An application, as data. */
export interface World {
  kind: 'app' | 'host'
  transport: 'socket' | 'http2' | 'inject'
  router: RouterChoice
  /** In front of the file routes of a host, and of a second registration on an app. */
  mount: string
  baseRoute: string
  keys: readonly Key[]
  files: readonly (readonly string[])[]
  plugins: readonly PluginRoute[]
  /** Scopes with a not-found handler of their own. */
  notFound: readonly string[]
}

const strict: RouterChoice = {
  caseSensitive: true,
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: false,
  useSemicolonDelimiter: false
}

export const world: fc.Arbitrary<World> = fc.record({
  kind: fc.constantFrom('app', 'app', 'host'),
  transport: fc.constantFrom('socket', 'socket', 'socket', 'http2', 'inject'),
  router: fc.oneof(
    fc.constant(strict),
    fc.record({
      caseSensitive: fc.boolean(),
      ignoreTrailingSlash: fc.boolean(),
      ignoreDuplicateSlashes: fc.boolean(),
      useSemicolonDelimiter: fc.boolean()
    })
  ),
  mount: fc.constantFrom('', '', '/v1', '/:tenant'),
  baseRoute: fc.constantFrom('/api', '/', '/a'),
  keys: fc.uniqueArray(key, {
    minLength: 1,
    maxLength: 4,
    selector: ({ segments }) => segments.join('/').replaceAll(/\[[^\]]*\]/g, '[]')
  }),
  files: fc.array(fileRoute, { minLength: 1, maxLength: 5 }),
  plugins: fc.array(pluginRoute, { maxLength: 4 }),
  notFound: fc.uniqueArray(
    fc.oneof(
      fc.constant(''),
      word.map((name) => `/${escaped(name)}`)
    ),
    { maxLength: 2 }
  )
})
