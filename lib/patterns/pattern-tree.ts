import type { Segment, SegmentPart } from '../contract/manifest.js'
import { matchesParts } from './pattern.js'

type ParamSegment = Extract<Segment, { kind: 'param' }>

/** Patterns that begin alike. Most have few that go on, and most of these only one: members are made when they are needed. */
interface Branch<Item> {
  statics?: Map<string, Branch<Item>>
  /** By what the segment matches. */
  params?: Map<string, { segment: ParamSegment; branch: Branch<Item> }>
  /** Patterns that end here. */
  ending?: Item[]
  /** Patterns that take everything from here on. */
  resting?: Item[]
}

/** Segments of a pattern, and the items of others that are found for it. */
interface Search<Item> {
  readonly segments: readonly Segment[]
  readonly found: Item[]
}

/**
 * Which of many patterns have paths in common with another, found without comparing each with each. What is not certain to
 * be apart counts as common.
 */
export class PatternTree<Item> {
  readonly #root: Branch<Item> = {}
  readonly #fold: (text: string) => string

  constructor({ caseSensitive }: { caseSensitive: boolean }) {
    this.#fold = caseSensitive ? (text) => text : (text) => text.toLowerCase()
  }

  add(segments: readonly Segment[], item: Item): void {
    let branch = this.#root
    for (const segment of segments) {
      if (segment.kind === 'rest') return void (branch.resting ??= []).push(item)
      branch = segment.kind === 'static' ? this.#staticBelow(branch, segment.text) : this.#paramBelow(branch, segment)
    }
    ;(branch.ending ??= []).push(item)
  }

  /** The patterns with paths in common. */
  overlapping(segments: readonly Segment[]): readonly Item[] {
    const search: Search<Item> = { segments, found: [] }
    this.#walkApart(this.#root, 0, search)
    return search.found
  }

  /**
   * The patterns to which the router may give a path of this one if it did not know this one: those with paths in common,
   * but for those that it prefers anyway.
   */
  heirsOf(segments: readonly Segment[]): readonly Item[] {
    const search: Search<Item> = { segments, found: [] }
    this.#walkAlike(this.#root, 0, search)
    return search.found
  }

  /** Patterns that have been the same so far. A name is preferred to a parameter, that to a rest. */
  #walkAlike(branch: Branch<Item>, at: number, search: Search<Item>): void {
    const segment = search.segments[at]
    if (segment === undefined || segment.kind === 'rest') return // what is here is the same pattern, another path, or preferred
    addTo(search.found, branch.resting)
    if (segment.kind === 'static') {
      const text = this.#fold(segment.text)
      const same = branch.statics?.get(text)
      if (same !== undefined) this.#walkAlike(same, at + 1, search)
      this.#walkParams(branch, text, { at, search })
    } else {
      const shape = this.#shapeOf(segment)
      for (const [other, { branch: below }] of branch.params ?? []) {
        if (other === shape) this.#walkAlike(below, at + 1, search)
        else this.#walkApart(below, at + 1, search)
      }
    }
  }

  /** Patterns that have differed: either may be preferred. */
  #walkApart(branch: Branch<Item>, at: number, search: Search<Item>): void {
    const segment = search.segments[at]
    if (segment?.kind === 'rest') return addAll(branch, search.found)
    addTo(search.found, branch.resting)
    if (segment === undefined) addTo(search.found, branch.ending)
    else if (segment.kind === 'static') {
      const text = this.#fold(segment.text)
      const same = branch.statics?.get(text)
      if (same !== undefined) this.#walkApart(same, at + 1, search)
      this.#walkParams(branch, text, { at, search })
    } else {
      for (const { branch: below } of branch.params?.values() ?? []) this.#walkApart(below, at + 1, search)
      for (const [text, below] of branch.statics ?? [])
        if (this.#takes(segment, text)) this.#walkApart(below, at + 1, search)
    }
  }

  #walkParams({ params }: Branch<Item>, text: string, { at, search }: { at: number; search: Search<Item> }): void {
    for (const { segment, branch } of params?.values() ?? [])
      if (this.#takes(segment, text)) this.#walkApart(branch, at + 1, search)
  }

  #staticBelow(branch: Branch<Item>, text: string): Branch<Item> {
    const statics = (branch.statics ??= new Map())
    const key = this.#fold(text)
    let below = statics.get(key)
    if (below === undefined) statics.set(key, (below = {}))
    return below
  }

  #paramBelow(branch: Branch<Item>, segment: ParamSegment): Branch<Item> {
    const params = (branch.params ??= new Map())
    const shape = this.#shapeOf(segment)
    const known = params.get(shape)
    if (known !== undefined) return known.branch
    const below: Branch<Item> = {}
    params.set(shape, { segment, branch: below })
    return below
  }

  #takes({ parts }: ParamSegment, folded: string): boolean {
    const foldedParts = parts.map((part) => ('literal' in part ? { literal: this.#fold(part.literal) } : part))
    return matchesParts(foldedParts, folded)
  }

  #shapeOf({ parts }: ParamSegment): string {
    return parts.map((part) => this.#shapeOfPart(part)).join('')
  }

  /** Of a segment in the syntax of Fastify's router only `:name` is known to be a parameter and nothing else. */
  #shapeOfPart(part: SegmentPart): string {
    if ('literal' in part) return this.#fold(part.literal)
    return part.name.startsWith(':') && !/^:\w+$/.test(part.name) ? part.name : '[]'
  }
}

function addAll<Item>(branch: Branch<Item>, found: Item[]): void {
  addTo(found, branch.ending)
  addTo(found, branch.resting)
  for (const below of branch.statics?.values() ?? []) addAll(below, found)
  for (const { branch: below } of branch.params?.values() ?? []) addAll(below, found)
}

function addTo<Item>(found: Item[], items: readonly Item[] | undefined): void {
  if (items !== undefined) for (const item of items) found.push(item)
}
