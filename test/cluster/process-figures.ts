// What Linux knows of processes.
import { readdirSync, readFileSync } from 'node:fs'

/** Whatever the machine. */
const TICKS_PER_SECOND = 100

/** User and system time of a process so far, in microseconds. */
export function cpuTime(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // from the third one, the state, on
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1e6
}

/** Memory of a process in use, in KiB. */
export function residentSet(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1]) === parent
      } catch {
        return false // has ended meanwhile
      }
    })
    .map(Number)
}
