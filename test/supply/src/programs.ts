import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))

export interface Ended {
  code: number
  /** Of its standard output. */
  text: string
  errors: string
}

export async function run(
  file: string,
  args: readonly string[],
  cwd = root,
  env: NodeJS.ProcessEnv = {}
): Promise<Ended> {
  const options = { cwd, env: { ...process.env, ...env }, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 }
  return new Promise((resolve) => {
    execFile(file, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, text: stdout, errors: stderr })
    })
  })
}
