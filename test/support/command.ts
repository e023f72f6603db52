import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { printTo } from '../../dist/command/output.js'
import { answerCommand } from '../../dist/command/run-command.js'
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

/**
 * What {@link runTwinroute} answers, without a process for it: one after the other, since this process moves to the folder.
 * Modules stay loaded, so that a route file must not have changed since an earlier call.
 */
export async function askTwinroute(cwd: string, args: readonly string[]): Promise<CommandResult> {
  const result = { code: -1, stdout: '', stderr: '' }
  const home = process.cwd()
  const mode = process.env.NODE_ENV
  printTo({ out: (text) => (result.stdout += text), error: (text) => (result.stderr += text) })
  process.chdir(cwd)
  process.env.NODE_ENV = ''
  try {
    result.code = (await answerCommand(args)) ?? -1
  } finally {
    process.chdir(home)
    if (mode === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = mode
  }
  return result
}
