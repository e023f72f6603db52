import fc from 'fast-check'

/** Few names, so that routes, prefixes and requests meet. */
export const WORDS = ['api', 'a', 'b', 'admin', 'A', 'x.y', 'a-b', 'a:b', 'caf\u00e9', 'v1'] as const

export const word = fc.constantFrom(...WORDS)

/** One way to write a name in a request. */
type Spelling = (name: string) => string

const SPELLINGS: readonly Spelling[] = [
  (name) => encodeURI(name),
  (name) => encodeURIComponent(name),
  (name) => [...Buffer.from(name)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  (name) => `%${name.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0').slice(-2)}${encodeURI(name.slice(1))}`,
  (name) => encodeURI(name.toUpperCase()),
  (name) => encodeURI(name.toLowerCase()),
  (name) => encodeURI(name.normalize('NFD')),
  (name) => `${encodeURI(name)};x`,
  (name) => `${encodeURI(name)}%20`
]

/** Segments that not everybody reads alike, and some that only look so. */
const ODD = [
  '',
  '.',
  '..',
  '%2e',
  '%2E%2e',
  '..;',
  '.%09.',
  '%2F',
  'a%2Fadmin',
  '..%2Fadmin',
  '..%2f..%2fapi%2fadmin',
  'x%2F..%2Fadmin',
  'x%5C..%5Cadmin',
  '..%5cadmin',
  '\\',
  '..\\admin',
  '%00',
  '%09',
  '%0aadmin',
  'admin%00',
  '%252F',
  '%252e%252e',
  'admin;a',
  'a%3Fb',
  'a%23',
  '%E2%80%A8',
  '%zz',
  '...',
  'x'.repeat(150)
] as const

/** How a request is made of what it aims at. */
export interface Aim {
  /** Which prefix or route of the application it is made after. */
  skeleton: number
  /** For parameters, catch-alls and what follows. */
  fill: readonly string[]
  spellings: readonly Spelling[]
  /** Odd segments, and where they are put. */
  odd: readonly { at: number; text: string }[]
  tail: string
}

const spelling = fc.oneof(
  { weight: 6, arbitrary: fc.constant(SPELLINGS[0] as Spelling) },
  fc.constantFrom(...SPELLINGS)
)

export const aim: fc.Arbitrary<Aim> = fc.record({
  skeleton: fc.nat(1000),
  fill: fc.array(word, { minLength: 6, maxLength: 6 }),
  spellings: fc.array(spelling, { minLength: 12, maxLength: 12 }),
  odd: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    fc.array(fc.record({ at: fc.nat(5), text: fc.constantFrom(...ODD) }), { maxLength: 2 })
  ),
  tail: fc.constantFrom('', '', '', '/', '//', '?q=/admin', '/?a;b')
})

export const ANY_NAME: unique symbol = Symbol('any name')
export const ANY_NAMES: unique symbol = Symbol('any number of names')

/** A path that something in the application stands on. */
export type Skeleton = readonly (string | typeof ANY_NAME | typeof ANY_NAMES)[]

/** The target of a request, as it goes over the wire. */
export function targetOf({ skeleton, fill, spellings, odd, tail }: Aim, skeletons: readonly Skeleton[]): string {
  const chosen = skeletons[skeleton % skeletons.length] ?? []
  const left = [...fill]
  const names = chosen.flatMap((part) => {
    if (part === ANY_NAMES) return left.splice(0, skeleton % 3)
    return part === ANY_NAME ? left.splice(0, 1) : [part]
  })
  const segments = [...names, ...left.splice(0, skeleton % 2)].map(
    (name, index) => spellings[index % spellings.length]?.(name) ?? name
  )
  for (const { at, text } of odd) segments.splice(at, at % 2, text)
  return `/${segments.join('/')}${tail}`
}
