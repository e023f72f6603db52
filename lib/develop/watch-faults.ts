import { displayPath } from '../errors/boot-error.js'
import { readProperty } from '../errors/read-property.js'
import { tell } from './terminal.js'

const POLL = 'or set CHOKIDAR_USEPOLLING=1, which needs no limit'

/** What a developer can do, by the code of the error. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: `the system watches no more files: raise fs.inotify.max_user_watches with sysctl, ${POLL}`,
  EMFILE: `too many files are open: raise fs.inotify.max_user_instances with sysctl and the limit of ulimit -n, ${POLL}`,
  ENFILE: 'too many files are open in the whole system: end other programs',
  EACCES: 'they cannot be read: give yourself the right to, if they are of the application',
  ELOOP: 'a symbolic link leads to itself: remove it, or correct it'
}

/** Files that cannot be watched: each reason is told once, by the first of them. */
export class WatchFaults {
  readonly #told = new Set<unknown>()

  tell(error: unknown): void {
    const code = readProperty(error, 'code') ?? readProperty(error, 'message')
    if (this.#told.has(code)) return
    this.#told.add(code)
    const path = readProperty(error, 'path')
    const place = typeof path === 'string' ? `at ${displayPath(path)}` : 'of some files'
    const advice = ADVICE[String(code)]
    tell(`changes ${place} are not noticed (${String(code)})${advice === undefined ? '' : `: ${advice}`}`)
  }
}
