import type { BootProblem } from '../../index.js'

/** What the sources turn out to need while they are bundled. */
export interface Found {
  /** Directories of route files, with the number of routes. */
  routes: Map<string, number>
  /** Files and folders to copy: absolute path to its place in the output. */
  assets: Map<string, string>
  /** Named by a source file, but outside of what is built: they stay where they are. */
  outside: Set<string>
  /** Programs that the sources start as workers: the name in the output to the source file. */
  programs: Map<string, string>
  /** Packages with a native part, which `--bundle` leaves external. */
  native: Set<string>
  warnings: Set<string>
  /** Whether a source file calls start() or listen(). */
  starts: boolean
  /** Source files that give the option apiDir. */
  apiDirFiles: Set<string>
  /** Whether one of them names a map too, which may be the option middleware. */
  hasMap: boolean
  problems: BootProblem[]
}

export function foundNothing(): Found {
  return {
    routes: new Map(),
    assets: new Map(),
    outside: new Set(),
    programs: new Map(),
    native: new Set(),
    warnings: new Set(),
    starts: false,
    apiDirFiles: new Set(),
    hasMap: false,
    problems: []
  }
}
