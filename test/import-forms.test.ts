import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import ts from 'typescript'
import { root } from './support/source-tree.js'

const run = promisify(execFile)

// Below the repository, so that programs find this package and Express by their names.
await mkdir(join(root, '.test'), { recursive: true })
const workshop = await mkdtemp(join(root, '.test/forms-'))
t.teardown(() => rm(workshop, { recursive: true }))

/** A way in which programs get hold of Express; `express` in its text is the package that is tried. */
interface Form {
  rule: string
  /** Defines `create` and `parts`: what the program calls, and what Express has on it. */
  text: string
  /** Compiled to this; default: none, the text is JavaScript already. */
  compiled?: ts.CompilerOptions
  /** Of the file that is run; default `cjs`. */
  extension?: 'cjs' | 'mjs'
}

const NAMES = 'Router, Route, json, raw, text, urlencoded, static: serveStatic, request, response, application'
const COMMONJS = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 }

const FORMS: Form[] = [
  { rule: 'require', text: `const express = require('express'); const create = express, parts = express` },
  {
    rule: 'require, taken apart',
    text: `const { ${NAMES} } = require('express'); const create = require('express'), parts = { ${NAMES} }`
  },
  {
    rule: 'import = require, compiled to CommonJS',
    text: `import express = require('express'); const create = express, parts = express`,
    compiled: COMMONJS
  },
  {
    rule: 'import * compiled to CommonJS as TypeScript does without esModuleInterop',
    text: `import * as express from 'express'; const create = express, parts = express`,
    compiled: { ...COMMONJS, esModuleInterop: false }
  },
  {
    rule: 'default import compiled to CommonJS with esModuleInterop',
    text: `import express from 'express'; const create = express, parts = express`,
    compiled: { ...COMMONJS, esModuleInterop: true }
  },
  {
    rule: 'import * compiled to CommonJS with esModuleInterop',
    text: `import * as express from 'express'; const create = express.default, parts = express`,
    compiled: { ...COMMONJS, esModuleInterop: true }
  },
  {
    rule: 'default and named imports compiled to CommonJS with esModuleInterop',
    text: `import express, { Router, json, response, static as files } from 'express'
      const create = express, parts = { Router, json, response, static: files }`,
    compiled: { ...COMMONJS, esModuleInterop: true }
  },
  {
    rule: 'import() in a CommonJS program',
    text: `const pending = import('express'); let create, parts
      before = pending.then((express) => { create = express.default; parts = express })`
  },
  {
    rule: 'default import in an ES module',
    text: `import express from 'express'; const create = express, parts = express`,
    extension: 'mjs'
  },
  {
    rule: 'named imports in an ES module',
    text: `import express, { ${NAMES.replace('static: serveStatic', 'static as serveStatic')} } from 'express'
      const create = express, parts = { ${NAMES} }`,
    extension: 'mjs'
  },
  {
    rule: 'import * in an ES module',
    text: `import * as express from 'express'; const create = express.default, parts = express`,
    extension: 'mjs'
  },
  {
    rule: 'createRequire in an ES module',
    text: `import { createRequire } from 'node:module'
      const express = createRequire(import.meta.url)('express'); const create = express, parts = express`,
    extension: 'mjs'
  }
]

/** Uses every part that the form gives, asks the application over HTTP and prints what it answered. */
const TAIL = `
async function main() {
  await before
  const answers = []
  const app = create()
  const router = parts.Router()
  parts.response.shout = function (text) { return this.send(text.toUpperCase()) }
  router.post('/echo', (request, response) => response.json(request.body))
  app.use(parts.json(), router)
  app.use('/files', parts.static(folder))
  if (create.Router !== undefined) app.use('/own', create.Router().get('/', (request, response) => response.json({ url: request.baseUrl })))
  app.get('/shout/:word', (request, response) => response.shout(request.params.word))
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const ask = async (path, options) => {
    const answer = await fetch('http://127.0.0.1:' + server.address().port + path, options)
    answers.push([answer.status, answer.headers.get('content-type'), await answer.text()])
  }
  await ask('/echo', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' })
  await ask('/files/file.txt')
  await ask('/own')
  await ask('/shout/hey')
  await ask('/nowhere')
  server.close()
  const kinds = Object.fromEntries(Object.keys(parts).filter((name) => isOfExpress(name)).sort().map((name) => [name, typeof parts[name]]))
  console.log(JSON.stringify({ kinds, answers }))
}
// Ours has the Fastify beneath and the factory by name besides; Node adds a name to the namespaces of CommonJS modules.
function isOfExpress(name) { return !['express', 'module.exports', 'default', '__esModule'].includes(name) }
main()
`

async function programOf(form: Form, name: string): Promise<string> {
  const folder = JSON.stringify(join(workshop, 'files'))
  const source = `let before\nconst folder = ${folder}\n${form.text}\n`
  const text = form.compiled === undefined ? source : ts.transpile(source, form.compiled)
  const file = join(workshop, `${FORMS.indexOf(form)}-${name.replaceAll('/', '-')}.${form.extension ?? 'cjs'}`)
  await writeFile(file, text.replaceAll(/(['"])express\1/g, `'${name}'`) + TAIL)
  return file
}

async function outputOf(form: Form, name: string): Promise<unknown> {
  const { stdout } = await run(process.execPath, [await programOf(form, name)], { timeout: 60_000 })
  return JSON.parse(stdout)
}

await mkdir(join(workshop, 'files'))
await writeFile(join(workshop, 'files/file.txt'), 'a file')

for (const form of FORMS) {
  t.test(`twinroute/express works as Express does by ${form.rule}`, async (t) => {
    const expected = await outputOf(form, 'express')
    t.match(expected, { answers: [[200, /json/, '{"a":1}'], [200], [], [200, /html/, 'HEY'], [404]] })
    t.strictSame(await outputOf(form, 'twinroute/express'), expected)
  })
}

t.test('require and import of twinroute/express give one copy, whichever comes first', async (t) => {
  const programs = [
    `const a = require('twinroute/express'); import('twinroute/express').then((b) => console.log(a === b.default, a === b.express))`,
    `import('twinroute/express').then((b) => { const a = require('twinroute/express'); console.log(a === b.default, a === a.express) })`
  ]
  for (const program of programs) {
    const { stdout } = await run(process.execPath, ['--input-type=commonjs', '--eval', program], { cwd: root })
    t.equal(stdout, 'true true\n', program)
  }
})

t.test('require of twinroute/express loads CommonJS alone, as test runners and hooks of require need it', async (t) => {
  const program = `require('twinroute/express')()
    const { isModuleNamespaceObject } = require('node:util').types
    console.log(Object.values(require.cache).filter(({ exports }) => isModuleNamespaceObject(exports)).map(({ id }) => id).join())`
  const { stdout } = await run(process.execPath, ['--input-type=commonjs', '--eval', program], { cwd: root })
  t.equal(stdout, '\n')
})
