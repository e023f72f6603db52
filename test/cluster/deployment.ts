import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Exit, Instance } from './instance.js'
import { NGINX, type Nginx } from './nginx.js'
import { readPageFile, withPlaces } from './page-files.js'

const run = promisify(execFile)

/**
 * Restarts all processes, one after the other, by the script of docs/scale.md. It calls `nginx` and `systemctl`; here these are
 * two lines of shell, which mean the nginx and the processes of this command.
 *
 * @returns how each process has ended
 */
export async function deploy(folder: string, nginx: Nginx, instances: readonly Instance[]): Promise<Exit[]> {
  const exits: Exit[] = []
  const units = createServer((request, response) => {
    const instance = instances.find(({ port }) => request.url === `/restart/my-app@${port}`)
    void restart(instance).then(
      (exit) => {
        exits.push(exit)
        response.end()
      },
      (error: unknown) => response.writeHead(500).end(String(error))
    )
  })
  units.listen(0, '127.0.0.1')
  await once(units, 'listening')
  const { port } = units.address() as AddressInfo
  const commands = writeCommands(folder, {
    nginx: `exec ${NGINX} ${nginx.args.join(' ')} "$@"`,
    systemctl: `exec curl -fsS -X POST "http://127.0.0.1:${port}/$1/$2"`
  })
  const ports = instances.map((instance) => instance.port)
  const script = withPlaces(readPageFile('deploy.sh'), ports, {
    '/etc/nginx/conf.d/my-app.conf': nginx.configuration,
    '/readyz': '/api/health' // the example has a route of its own
  })
  try {
    await run('bash', ['--norc', '-c', script], { env: { PATH: `${commands}${delimiter}${process.env['PATH']}` } })
  } catch (error) {
    throw new Error(instances.map(({ output }) => output.slice(-2000)).join('\n'), { cause: error })
  } finally {
    units.close()
  }
  return exits
}

async function restart(instance: Instance | undefined): Promise<Exit> {
  if (instance === undefined) throw new Error('no such process')
  const exit = await instance.end('SIGTERM')
  instance.start()
  return exit
}

function writeCommands(folder: string, commands: Readonly<Record<string, string>>): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  for (const [name, line] of Object.entries(commands)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  return bin
}
