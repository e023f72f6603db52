/** Instructions of a run. */
export interface Profile {
  /** Of the program and what it calls. */
  ours: number
  /** Of V8's compiler and garbage collector, which come at any time. */
  background: number
}

/** Where V8 begins to compile or collect; what these functions call is in their inclusive cost. */
const BACKGROUND =
  /CancelableTask::Run\(\)$|::Heap::CollectGarbage\(|::Compiler::Compile|InstallOptimizedFunctions\(\)$/

/**
 * Adds up a profile of Valgrind's tool callgrind (https://valgrind.org/docs/manual/cl-format.html). A cost line is of the
 * function that was named last; the one behind a `calls` line is what the callee took with all that it called.
 */
export function selfCost(text: string): Profile {
  const names = new Map<string, string>()
  let caller = ''
  let callee: string | undefined
  let all = 0
  let background = 0
  for (const line of text.split('\n')) {
    const [, key, given] = /^(fn|cfn)=(.*)$/.exec(line) ?? []
    if (given !== undefined) {
      const name = nameOf(names, given)
      if (key === 'fn') caller = name
      else callee = name
    } else if (/^[+\-*\d]/.test(line)) {
      const cost = Number(line.split(' ')[1])
      if (callee === undefined) all += cost
      else if (BACKGROUND.test(callee) && !isCounted(caller)) background += cost
      callee = undefined
    }
  }
  return { ours: all - background, background }
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
