/** What a run has cost in a processor as Valgrind imagines it, whose first caches hold 32 KB of code and of data. */
export interface Cost {
  instructions: number
  /** Lines of code, of 64 bytes, that were not in the first cache. */
  code: number
  /** Lines of data, read or written. */
  data: number
}

export interface Profile {
  /** Of the program and what it calls. */
  ours: Cost
  /** Of V8's compiler and garbage collector, which come at any time. */
  background: Cost
}

/** Where V8 begins to compile or collect; what these functions call is in their inclusive cost. */
const BACKGROUND =
  /CancelableTask::Run\(\)$|IncrementalMarking::Observer::Step\(|::Heap::CollectGarbage\(|::Compiler::Compile|InstallOptimizedFunctions\(\)$/

/**
 * Adds up a profile of Valgrind's tool callgrind (https://valgrind.org/docs/manual/cl-format.html). A cost line is of the
 * function that was named last; the one behind a `calls` line is what the callee took with all that it called.
 */
export function selfCost(text: string): Profile {
  const events = /^events: (.*)$/m.exec(text)?.[1]?.split(' ') ?? []
  const names = new Map<string, string>()
  let caller = ''
  let callee: string | undefined
  const all: Counts = new Map()
  const background: Counts = new Map()
  for (const line of text.split('\n')) {
    const [, key, given] = /^(fn|cfn)=(.*)$/.exec(line) ?? []
    if (given !== undefined) {
      const name = nameOf(names, given)
      if (key === 'fn') caller = name
      else callee = name
    } else if (/^[+\-*\d]/.test(line)) {
      const counts = line.split(' ').slice(1).map(Number)
      if (callee === undefined) add(all, events, counts)
      else if (BACKGROUND.test(callee) && !isCounted(caller)) add(background, events, counts)
      callee = undefined
    }
  }
  const [whole, beside] = [costOf(all), costOf(background)]
  return { ours: less(whole, beside), background: beside }
}

/** By the name of the event. */
type Counts = Map<string, number>

function add(to: Counts, events: readonly string[], counts: readonly number[]): void {
  for (const [index, count] of counts.entries()) {
    const event = events[index] as string
    to.set(event, (to.get(event) ?? 0) + count)
  }
}

function costOf(counts: Counts): Cost {
  const of = (event: string): number => counts.get(event) ?? 0
  return { instructions: of('Ir'), code: of('I1mr'), data: of('D1mr') + of('D1mw') }
}

function less(whole: Cost, part: Cost): Cost {
  return {
    instructions: whole.instructions - part.instructions,
    code: whole.code - part.code,
    data: whole.data - part.data
  }
}

/** Names are written out once, `(12) name`, and then as `(12)`. */
function nameOf(names: Map<string, string>, given: string): string {
  const [, number = '', name] = /^\((\d+)\)(?: (.*))?$/.exec(given) ?? []
  if (name !== undefined) names.set(number, name)
  return names.get(number) ?? given
}

/** Part of V8's background work itself, or one of its tasks, which `CancelableTask::Run` has called. */
function isCounted(caller: string): boolean {
  return BACKGROUND.test(caller) || caller.endsWith('Task::RunInternal()')
}
