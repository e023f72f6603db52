import inspector from 'node:inspector'
import { syncBuiltinESMExports } from 'node:module'

/** Whether a debugger may hold this process: nothing is heard of it then, and it is in no loop. */
export function isDebugged(): boolean {
  return inspector.url() !== undefined
}

/** @param tell is called before the program lets a debugger in, which may hold it at once */
export function onDebugger(tell: () => void): void {
  const { open } = inspector
  Object.assign(inspector, {
    open: (...given: unknown[]): unknown => {
      tell()
      return Reflect.apply(open, inspector, given)
    }
  })
  syncBuiltinESMExports()
}
