import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** Where Prometheus is; undefined when it is not installed. */
export const prometheus = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'prometheus'))
  .find((path) => existsSync(path))

/** Values of the series that a query gives. */
export type Ask = (expr: string) => Promise<string[]>

interface Answer {
  status: string
  error?: string
  data?: { result: { value: [number, string] }[] }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Runs Prometheus, which scrapes a target each second. */
export async function withPrometheus(
  program: string,
  target: string,
  work: (ask: Ask) => Promise<void>
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'twinroute-prometheus-'))
  const configuration = join(folder, 'prometheus.yml')
  await writeFile(
    configuration,
    `global: { scrape_interval: 1s }\nscrape_configs: [{ job_name: my-app, static_configs: [{ targets: ['${target}'] }] }]\n`
  )
  const address = `127.0.0.1:${await freePort()}`
  const args = [
    `--config.file=${configuration}`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=${address}`
  ]
  const child = spawn(program, [...args, '--log.level=error'], { stdio: ['ignore', 'inherit', 'inherit'] })
  const closed = once(child, 'close')
  const ask: Ask = async (expr) => {
    const response = await fetch(`http://${address}/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`)
    const { error, data } = (await response.json()) as Answer
    if (data === undefined) throw new Error(`${expr}: ${error}`)
    return data.result.map(({ value: [, value] }) => value)
  }
  try {
    while (!(await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok) {
      if (child.exitCode !== null) throw new Error(`prometheus has ended with ${child.exitCode}`)
      await wait(50)
    }
    await work(ask)
  } finally {
    child.kill('SIGTERM')
    await closed
    await rm(folder, { recursive: true, force: true })
  }
}
