import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { root } from './source-tree.js'

/** What a command has printed, and its exit code. */
export interface CommandResult {
  code: number
  stdout: string
  stderr: string
}

const PROGRAM = join(root, 'dist/command/twinroute.js')

/** Runs `twinroute` as a shell does, in a folder. */
export async function runTwinroute(
  cwd: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {}
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, NODE_ENV: '', ...env }, timeout: 60_000 }
    execFile(process.execPath, [PROGRAM, ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, stdout, stderr })
    })
  })
}
