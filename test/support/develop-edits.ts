import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { SERVER, type DevelopProject, type Files } from './develop-project.js'
import { expectAnswer, type Row } from './develop-row.js'

/** Each module counts its evaluations where no reload reaches. */
const COUNT =
  'globalThis.counts ??= {}; const count = (name) => (globalThis.counts[name] = (globalThis.counts[name] ?? 0) + 1)\n'

const SHOP: Files = {
  'src/server.ts': SERVER,
  'src/api/one/route.ts': `export const GET = (): object => ({ one: 1 })`,
  'src/api/two/route.ts': `import { name } from '../../name.js'\nexport const GET = (): object => ({ two: name })`,
  'src/api/counts/route.ts': `import '../../state.ts'\nexport const GET = () => globalThis.counts`,
  'src/name.ts': `${COUNT}count('name')\nexport const name: string = 'first'`,
  'src/state.ts': `${COUNT}count('state')`,
  'src/middleware.ts': `
    import { createMiddleware, type Middleware } from 'twinroute'
    const mark: Middleware = (request, response, next) => { response.setHeader('x-mark', 'first'); next() }
    export const middleware = createMiddleware({ '/api/one': [mark] })`
}

async function markOf(project: DevelopProject): Promise<string | null> {
  const response = await fetch(`${project.address}/api/one`)
  await response.text()
  return response.headers.get('x-mark')
}

export const EDIT_ROWS: Row[] = [
  {
    name: 'an edited route file answers anew; modules that did not change are not evaluated again',
    files: SHOP,
    async run(project) {
      await expectAnswer(project, '/api/one', { one: 1 })
      await project.change({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 2 })' })
      await expectAnswer(project, '/api/one', { one: 2 })
      await expectAnswer(project, '/api/two', { two: 'first' })
      await expectAnswer(project, '/api/counts', { name: 1, state: 1 })
    }
  },
  {
    name: 'an edited shared module reaches the routes that import it, and no other module',
    files: SHOP,
    async run(project) {
      await project.change({ 'src/name.ts': `${COUNT}count('name')\nexport const name: string = 'second'` })
      await expectAnswer(project, '/api/two', { two: 'second' })
      await expectAnswer(project, '/api/counts', { name: 2, state: 1 })
    }
  },
  {
    name: 'an edited middleware map, and an edited program',
    files: SHOP,
    async run(project) {
      assert.equal(await markOf(project), 'first')
      await project.change({ 'src/middleware.ts': SHOP['src/middleware.ts']!.replace("'first'", "'second'") })
      assert.equal(await markOf(project), 'second')
      await project.change({ 'src/server.ts': SERVER.replace('port: 0', "port: 0, baseRoute: '/v1'") })
      await expectAnswer(project, '/v1/one', { one: 1 })
      await expectAnswer(project, '/api/counts', { name: 1, state: 1 }, 404).catch(() => undefined)
      assert.equal((await project.get('/api/one')).status, 404)
    }
  },
  {
    name: 'route files that are added, renamed and deleted need nothing else',
    files: SHOP,
    async run(project) {
      await project.change({ 'src/api/three/[id]/route.ts': 'export const GET = (r) => ({ three: r.params.id })' })
      await expectAnswer(project, '/api/three/7', { three: '7' })
      await project.reload(() => renameSync(project.path('src/api/three'), project.path('src/api/four')))
      await project.eventually('/api/four/8', '{"three":"8"}')
      await project.eventually('/api/three/7', 404)
      await project.reload(() => project.remove('src/api/four'))
      await project.eventually('/api/four/8', 404)
      await expectAnswer(project, '/api/one', { one: 1 })
    }
  },
  {
    name: 'a middleware file that is added guards at once',
    files: { ...SHOP, 'src/middleware.ts': 'export const middleware = {}' },
    async run(project) {
      await project.reload(() => project.remove('src/middleware.ts'))
      assert.equal(await markOf(project), null)
      await project.change({ 'src/middleware.ts': SHOP['src/middleware.ts']! })
      assert.equal(await markOf(project), 'first')
    }
  },
  {
    name: 'an editor that writes a new file and renames it, and one that writes twice',
    files: SHOP,
    async run(project) {
      await project.reload(() => project.replace('src/api/one/route.ts', 'export const GET = () => ({ one: 3 })'))
      await expectAnswer(project, '/api/one', { one: 3 })
      project.write({ 'src/api/one/route.ts': '' })
      await wait(15)
      project.write({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 4 })' })
      await project.eventually('/api/one', '{"one":4}')
    }
  },
  {
    name: 'under eight clients no request of many edits is refused, fails, or goes back to an older answer',
    files: { ...SHOP, 'src/api/one/route.ts': 'export const GET = () => ({ edit: 0 })' },
    async run(project) {
      const load = { isOver: false }
      let requests = 0
      const faults: string[] = []
      const client = async (): Promise<void> => {
        let newest = 0
        while (!load.isOver) {
          requests++
          try {
            const { status, text } = await project.get('/api/one')
            const { edit } = JSON.parse(text) as { edit: number }
            if (status !== 200 || edit < newest) faults.push(`${status} ${edit} after ${newest}`)
            newest = edit
          } catch (error) {
            faults.push(String(error))
          }
        }
      }
      const clients = Array.from({ length: 8 }, client)
      for (let edit = 1; edit <= 20; edit++) {
        await project.change({ 'src/api/one/route.ts': `export const GET = () => ({ edit: ${edit} })` })
      }
      load.isOver = true
      await Promise.all(clients)
      assert.deepEqual(faults, [])
      assert.ok(requests > 100, `only ${requests} requests`)
      await expectAnswer(project, '/api/one', { edit: 20 })
    }
  },
  {
    name: 'JavaScript in ECMAScript modules, with JSON and state of its own',
    files: {
      'src/server.js': SERVER,
      'src/data.json': '{"value":1}',
      'src/shared.js': 'import data from "./data.json" with { type: "json" }\nexport const value = data.value',
      'src/api/a/route.js': 'import { value } from "../../shared.js"\nexport const GET = () => ({ value })'
    },
    async run(project) {
      await expectAnswer(project, '/api/a', { value: 1 })
      await project.change({ 'src/data.json': '{"value":2}' })
      await expectAnswer(project, '/api/a', { value: 2 })
      await project.change({ 'src/shared.js': 'export const value = 3' })
      await expectAnswer(project, '/api/a', { value: 3 })
    }
  },
  {
    name: 'CommonJS: program, routes and what they require, listening without await',
    files: {
      'package.json': '{}',
      'server.js': `
        const { createApp } = require('twinroute')
        createApp({ apiDir: __dirname + '/api', port: 0 }).then((app) => app.start())`,
      'lib.js': 'module.exports = { value: 1 }',
      'api/a/route.js': 'const { value } = require("../../lib")\nexports.GET = () => ({ value })'
    },
    async run(project) {
      await expectAnswer(project, '/api/a', { value: 1 })
      await project.change({ 'lib.js': 'module.exports = { value: 2 }' })
      await expectAnswer(project, '/api/a', { value: 2 })
      await project.change({ 'api/a/route.js': 'exports.GET = () => ({ value: 3 })' })
      await expectAnswer(project, '/api/a', { value: 3 })
    }
  },
  {
    name: 'a Fastify of the program with the plugin, made in another module than the one that listens',
    files: {
      ...SHOP,
      'src/app.ts': `
        import Fastify from 'fastify'
        import { fileRoutes } from 'twinroute'
        export const app = Fastify()
        app.get('/plain', async () => ({ plain: true }))
        await app.register(fileRoutes, { apiDir: new URL('./api', import.meta.url) })`,
      'src/server.ts': `import { app } from './app.js'\nawait app.listen({ port: 0 })`
    },
    async run(project) {
      await expectAnswer(project, '/plain', { plain: true })
      await project.change({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 5 })' })
      await expectAnswer(project, '/api/one', { one: 5 })
      await expectAnswer(project, '/plain', { plain: true })
      await expectAnswer(project, '/api/counts', { name: 1, state: 1 })
    }
  },
  {
    name: 'a program with the app as its default export',
    files: { ...SHOP, 'src/server.ts': `${SERVER.replace('await app.start()', '')}\nexport default app` },
    async run(project) {
      await project.change({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 6 })' })
      await expectAnswer(project, '/api/one', { one: 6 })
    }
  },
  {
    name: 'twinroute/express, and an http server of the program',
    files: {
      'server.ts': `
        import { createServer } from 'node:http'
        import express from 'twinroute/express'
        import { answer } from './answer.ts'
        const app = express()
        app.get('/a', (request, response) => { response.json({ answer }) })
        createServer(app).listen(0)`,
      'answer.ts': 'export const answer = 1'
    },
    async run(project) {
      await expectAnswer(project, '/a', { answer: 1 })
      await project.change({ 'answer.ts': 'export const answer = 2' })
      await expectAnswer(project, '/a', { answer: 2 })
    }
  },
  {
    name: 'bodies that arrive while a change is loaded reach the new handler whole',
    files: {
      ...SHOP,
      'src/api/echo/route.ts': 'export const POST = (r) => ({ version: 1, size: r.body.text.length })'
    },
    async run(project) {
      const text = 'x'.repeat(200_000)
      const load = { isOver: false }
      const answers: unknown[] = []
      const client = async (): Promise<void> => {
        while (!load.isOver) {
          const response = await fetch(`${project.address}/api/echo`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ text })
          })
          const { size } = (await response.json()) as { size: number }
          answers.push([response.status, size])
        }
      }
      const clients = Array.from({ length: 4 }, client)
      for (let version = 2; version < 8; version++) {
        await project.change({
          'src/api/echo/route.ts': `export const POST = (r) => ({ version: ${version}, size: r.body.text.length })`
        })
      }
      load.isOver = true
      await Promise.all(clients)
      assert.deepEqual(new Set(answers.map((answer) => JSON.stringify(answer))), new Set(['[200,200000]']))
    }
  }
]
