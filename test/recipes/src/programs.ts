import { execFile, type ExecFileException } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'

export interface Ended {
  code: number
  text: string
}

/** Runs a program to its end; what it prints on both outputs is the text. */
export async function run(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, NO_COLOR: '1', ...env }, timeout: 60_000 }
    execFile(file, args, options, (error: ExecFileException | null, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, text: stdout + stderr })
    })
  })
}

/** @throws when it ends with another code than 0 */
export async function succeed(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { code, text } = await run(file, args, env)
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} has ended with ${code}\n${text}`)
  return text
}

/** Where a program is; undefined when it is not installed. Debian keeps those of the administrator out of PATH. */
export function find(program: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path))
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Asks until there is an answer; the program that is to give it is just starting. */
export async function untilAnswered(url: string, isAlive: () => boolean): Promise<Response> {
  while (isAlive()) {
    const response = await fetch(url).catch(() => undefined)
    if (response !== undefined) return response
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`nobody answers ${url}: the program has ended`)
}
