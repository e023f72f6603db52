import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import ts from 'typescript'
import { writeTree, type Tree } from './support/route-tree.js'
import { root } from './support/source-tree.js'

const run = promisify(execFile)

const runner = join(root, '.test/support/run-programs.js')

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
  const index = FORMS.indexOf(form)
  const file = join(workshop, `${index}-${name.replaceAll('/', '-')}.${form.extension ?? 'cjs'}`)
  // Each adds a method of its own to the response, whose prototype the programs of one process share.
  const tail = TAIL.replaceAll('response.shout', `response.shout${index}`)
  await writeFile(file, text.replaceAll(/(['"])express\1/g, `'${name}'`) + tail)
  return file
}

/** All programs in one process of Node, as it takes longer to start than they run: what each has printed. */
async function outputsOf(forms: readonly Form[], name: string): Promise<unknown[]> {
  const programs = await Promise.all(forms.map((form) => programOf(form, name)))
  const { stdout } = await run(process.execPath, [runner, ...programs], { timeout: 120_000 })
  const [, ...printed] = stdout.split('\0')
  return printed.map((text) => JSON.parse(text))
}

await mkdir(join(workshop, 'files'))
await writeFile(join(workshop, 'files/file.txt'), 'a file')

/** What is imported first decides how the rest is loaded: so the forms of each kind are in a process of their own. */
const KINDS = ['cjs', 'mjs'].map((kind) => FORMS.filter(({ extension = 'cjs' }) => extension === kind))
const outputs = await Promise.all(
  KINDS.flatMap((forms) => [outputsOf(forms, 'express'), outputsOf(forms, 'twinroute/express')])
)

for (const [kind, forms] of KINDS.entries()) {
  for (const [index, { rule }] of forms.entries()) {
    t.test(`twinroute/express works as Express does by ${rule}`, async (t) => {
      const [expected, found] = [outputs[2 * kind]?.[index], outputs[2 * kind + 1]?.[index]]
      t.match(expected, { answers: [[200, /json/, '{"a":1}'], [200], [], [200, /html/, 'HEY'], [404]] })
      t.strictSame(found, expected)
    })
  }
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

/** Node 22.18 and later run TypeScript by themselves; elsewhere the program is JavaScript and its routes go through jiti. */
const strips = 'typescript' in process.features && process.features.typescript !== false

/** What a program finds that imports the store of its route files and starts. */
interface Found {
  /** How many times each module ran. */
  runs: Record<string, number>
  /** What the routes answer: whether their store is the program's. */
  answers: Record<string, unknown>
  /** Code, files and whole message of the problems of the boot. */
  problems?: [code: string, files: string[]][]
  message?: string
}

interface Row {
  rule: string
  tree: Tree
  /** By path: whether the route has the program's store. */
  serves?: readonly string[]
  /** The problem of a boot that is refused: the file, and a text of the message. */
  refused?: { code: string; file: string; text: RegExp }
}

const count = (name: string): string =>
  `globalThis.runs ??= {}; globalThis.runs.${name} = (globalThis.runs.${name} ?? 0) + 1\n`
const route = (imports: string): string =>
  `${imports}\nexport const GET = (): object => ({ same: store === (globalThis as any).store })\n`
const typed: Tree = {
  'store.ts': `${count('store').replaceAll('globalThis', '(globalThis as any)')}
    export interface Note { id: number }
    export const store: object = {}`
}
const script: Tree = { 'store.js': `${count('store')}export const store = {}` }
const plain = route("import { store } from '../../store.ts'")

const BOTH: Row[] = [
  {
    rule: 'a JavaScript module runs once, for a program in JavaScript and route files in TypeScript and JavaScript',
    tree: {
      ...script,
      'server.js': "import { store } from './store.js'\nglobalThis.store = store\nawait import('./start.js')",
      'api/a/route.ts': route("import { store } from '../../store.js'"),
      'api/b/route.ts': route("import { store } from '../../load.ts'"),
      'load.ts': "export { store } from './store.js'",
      'api/c/route.js': route("import { store } from '../../store.js'").replace(': object', '').replace(' as any', '')
    },
    serves: ['/api/a', '/api/b', '/api/c']
  },
  {
    rule: 'a CommonJS module runs once, for a program in JavaScript and route files in TypeScript',
    tree: {
      'store.cjs': `${count('store')}exports.store = {}`,
      'server.js': "import { store } from './store.cjs'\nglobalThis.store = store\nawait import('./start.js')",
      'api/a/route.ts': route("import { store } from '../../store.cjs'"),
      'api/b/route.cts':
        "const { store } = require('../../store.cjs')\nexports.GET = () => ({ same: store === globalThis.store })"
    },
    serves: ['/api/a', '/api/b']
  }
]

const program = "import { store } from './store.ts'\nglobalThis.store = store\nawait import('./start.js')"
const server = program.replace('globalThis', '(globalThis as any)')

const STRIPPED: Row[] = [
  {
    rule: 'a route file that writes .js for .ts shares the module with the program',
    tree: {
      ...typed,
      'server.ts': server,
      'api/a/route.ts': route("import { store } from '../../store.js'"),
      'api/b/route.ts': plain
    },
    serves: ['/api/a', '/api/b']
  },
  {
    rule: 'a module that a handler imports later is the same one, written .js for .ts',
    tree: {
      ...typed,
      'server.ts': server,
      'api/a/route.ts': `export const GET = async (): Promise<object> => {
        const { store } = await import('../../store.js')
        return { same: store === (globalThis as any).store }
      }`
    },
    serves: ['/api/a']
  },
  {
    rule: 'a program in JavaScript that imports TypeScript shares it too',
    tree: {
      ...typed,
      'server.js': program,
      'api/a/route.ts': route("import { store } from '../../store.js'"),
      'api/b/route.ts': plain
    },
    serves: ['/api/a', '/api/b']
  },
  {
    rule: 'a type imported without the word type is refused with its file, its line and what to write',
    tree: {
      ...typed,
      'server.ts': server,
      'api/a/route.ts': route("\nimport { store, Note } from '../../store.ts'\nexport const _note: Note = { id: 1 }"),
      'api/b/route.ts': plain
    },
    refused: { code: 'ROUTE_IMPORT_FAILED', file: 'api/a/route.ts', text: /a\/route\.ts:2\b[^]*import \{ type Note \}/ }
  },
  {
    rule: 'a type imported so by a module that two route files import is refused with the file that does it',
    tree: {
      ...typed,
      'server.ts': server,
      'notes.ts': "import { Note } from './store.ts'\nexport const notes: Note[] = []",
      'api/a/route.ts': route("import { store } from '../../store.ts'\nimport { notes } from '../../notes.ts'"),
      'api/b/route.ts': plain
    },
    refused: { code: 'ROUTE_IMPORT_FAILED', file: 'api/a/route.ts', text: /notes\.ts:1\b[^]*import \{ type Note \}/ }
  },
  {
    rule: 'a type imported so by the middleware file is refused in the same way',
    tree: {
      ...typed,
      'server.ts': server,
      'middleware.ts':
        "import { Note } from './store.ts'\nexport const middleware = {}\nexport const _note: Note = { id: 1 }",
      'api/a/route.ts': plain
    },
    refused: {
      code: 'MIDDLEWARE_IMPORT_FAILED',
      file: 'middleware.ts',
      text: /middleware\.ts:1\b[^]*import \{ type Note \}/
    }
  },
  {
    rule: 'an enum is refused with its file, its line and what to do',
    tree: {
      ...typed,
      'server.ts': server,
      'api/a/route.ts': `${plain}enum Color { Red }\nexport const _color = Color.Red`,
      'api/b/route.ts': plain
    },
    refused: { code: 'ROUTE_IMPORT_FAILED', file: 'api/a/route.ts', text: /a\/route\.ts:3\b[^]*enum[^]*--import tsx/ }
  }
]

const THROUGH_JITI: Row[] = [
  {
    rule: 'jiti serves enums, types imported without the word type and .js written for .ts, with one store',
    tree: {
      ...typed,
      'server.js': "await import('./start.js')",
      'api/a/route.ts': `import { store, Note } from '../../store.js'
        ;(globalThis as any).store = store
        enum Color { Red }
        export const _note: Note = { id: Color.Red }
        export const GET = (): object => ({ same: true })`,
      'api/b/route.ts': plain
    },
    serves: ['/api/a', '/api/b']
  }
]

const START = `
import { createApp } from 'twinroute'
const found = { answers: {} }
try {
  const app = await createApp({ apiDir: new URL('./api', import.meta.url), mode: 'test' })
  for (const path of process.argv.slice(2)) found.answers[path] = (await app.inject(path)).json()
  await app.close()
} catch (error) {
  found.problems = error.problems.map(({ code, files }) => [code, files])
  found.message = error.message
}
found.runs = globalThis.runs
process.stdout.write(JSON.stringify(found))
`

for (const { rule, tree, serves = [], refused } of [...BOTH, ...(strips ? STRIPPED : THROUGH_JITI)]) {
  t.test(rule, async (t) => {
    const top = writeTree(t, { ...tree, 'start.js': START })
    const entry = 'server.ts' in tree ? 'server.ts' : 'server.js'
    const { stdout } = await run(process.execPath, [join(top, entry), ...serves], { cwd: top })
    const found: Found = JSON.parse(stdout)
    t.strictSame(found.runs, { store: 1 }, 'the store runs once')
    t.strictSame(found.answers, Object.fromEntries(serves.map((path) => [path, { same: true }])))
    if (refused === undefined) return t.equal(found.message, undefined)
    const { code, file, text } = refused
    t.strictSame(found.problems, [[code, [join(top, file)]]])
    t.match(found.message, text)
  })
}

t.test(
  'jiti keeps what it compiles in node_modules/.cache/twinroute of the application, which is made for it',
  { skip: strips && 'this Node runs TypeScript by itself' },
  async (t) => {
    const top = writeTree(t, {
      'server.js': "await import('./start.js')",
      'start.js': START,
      'api/a/route.ts': 'export const GET = (): object => ({ same: true })',
      'temporary/own': ''
    })
    const env = { ...process.env, TMPDIR: join(top, 'temporary') }
    const { stdout } = await run(process.execPath, [join(top, 'server.js'), '/api/a'], { cwd: top, env })
    t.strictSame(JSON.parse(stdout).answers, { '/api/a': { same: true } })
    t.match(await readdir(join(top, 'node_modules/.cache/twinroute')), [/route/], 'one file for the route')
    t.strictSame(await readdir(join(top, 'temporary')), ['own'], 'and none where any user may write')
  }
)
