import { execFileSync } from 'node:child_process'

/** The processes of a group that still run. */
export function groupOf(pid: number): string[] {
  const lines = execFileSync('ps', ['-e', '-o', 'pgid=,pid=,stat=']).toString().trim().split('\n')
  return lines.filter((line) => line.trim().startsWith(`${pid} `) && !/ Z/.test(line))
}
