import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ApiDocument } from './example-app.js'

const PRISM = createRequire(import.meta.url).resolve('@stoplight/prism-cli')
const STARTED = /listening on (http:\/\/[^\s]+)/

/** A validation proxy that runs. */
export interface Proxy {
  readonly address: string
  close(): Promise<void>
}

/** Prism between clients and a server: it says in a header of each answer what is not as the document has it. */
export async function startProxy(document: ApiDocument, server: string): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), 'twinroute-document-'))
  const file = join(folder, 'openapi.json')
  await writeFile(file, JSON.stringify(document))
  const child = spawn(process.execPath, [PRISM, 'proxy', file, server, '--host', '127.0.0.1', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NO_COLOR: '1', NODE_ENV: 'test' }
  })
  const close = async (): Promise<void> => {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await rm(folder, { recursive: true, force: true })
  }
  try {
    return { address: await addressIn(child), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What the proxy prints when it listens. */
async function addressIn(child: ChildProcess): Promise<string> {
  const printed: string[] = []
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    printed.push(line)
    const [, address] = STARTED.exec(line) ?? []
    if (address !== undefined) {
      child.stdout?.resume()
      return address
    }
  }
  throw new Error(`The proxy did not start:\n${printed.join('\n')}`)
}
