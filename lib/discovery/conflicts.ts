import type { Segment } from '../contract/manifest.js'
import type { BootProblem } from '../errors/boot-error.js'
import { formatPattern } from '../patterns/pattern.js'
import { formatSegment, segmentNames } from '../patterns/segment.js'
import type { ScannedFile } from './scan.js'

/** A scanned file with its full path, the base route included. */
export interface PlacedFile extends ScannedFile {
  pattern: string
}

/** Everything about the paths of the route files, taken alone and together, that would make a request ambiguous. */
export function findConflicts(files: readonly PlacedFile[]): BootProblem[] {
  return [...files.flatMap(checkPath), ...findSlotConflicts(files)]
}

function checkPath({ file, directory, segments, pattern }: PlacedFile): BootProblem[] {
  const problems: BootProblem[] = []
  const rest = segments.findIndex((segment) => segment.kind === 'rest')
  const restSegment = segments[rest]
  if (restSegment !== undefined && rest < segments.length - 1) {
    const name = formatSegment(restSegment)
    problems.push({
      code: 'ROUTE_REST_NOT_LAST',
      message: `${pattern} goes on after ${name}, which already takes everything that follows`,
      files: [file],
      fix: `Let ${name} be the last folder`
    })
  }
  const names = segments.flatMap(segmentNames)
  const repeated = names.find((name, index) => names.indexOf(name) < index)
  if (repeated !== undefined) {
    problems.push({
      code: 'ROUTE_PARAM_REPEATED',
      message: `${pattern} has two parameters named ${repeated}; the handler would see one of them`,
      files: [directory],
      fix: 'Give one of them another name'
    })
  }
  return problems
}

/**
 * A slot is a path as the router sees it, without the names of parameters. Two files in one slot are refused even when their
 * methods differ, because a method of the one would be a 405 of the other.
 */
function findSlotConflicts(files: readonly PlacedFile[]): BootProblem[] {
  const slots = new Map<string, PlacedFile[]>()
  for (const file of files) {
    for (const slot of slotsOf(file.segments)) slots.set(slot, [...(slots.get(slot) ?? []), file])
  }
  const seen = new Set<string>()
  const problems: BootProblem[] = []
  for (const sharing of slots.values()) {
    const paths = sharing.map((one) => one.file)
    const key = paths.join('\0')
    if (sharing.length < 2 || seen.has(key)) continue
    seen.add(key)
    problems.push(slotConflict(sharing))
  }
  return problems
}

/** An optional rest segment has two slots: with and without it. */
function slotsOf(segments: readonly Segment[]): string[] {
  const last = segments.at(-1)
  if (last?.kind !== 'rest') return [formatPattern(segments, 'blank')]
  const before = segments.slice(0, -1)
  const with_ = formatPattern([...before, { kind: 'rest', name: '', optional: false }], 'blank')
  return last.optional ? [formatPattern(before, 'blank'), with_] : [with_]
}

function slotConflict(sharing: readonly PlacedFile[]): BootProblem {
  const patterns = [...new Set(sharing.map((one) => one.pattern))]
  const same = patterns.length === 1
  return {
    code: 'ROUTE_SLOT_CONFLICT',
    message: same
      ? `${sharing.length} route files serve ${patterns.join('')}`
      : `${patterns.join(' and ')} match the same requests`,
    files: sharing.map((one) => one.file),
    fix: same ? 'Put all methods into one of the files' : 'Choose one name, and put all methods into one of the files'
  }
}
