import assert from 'node:assert/strict'
import { SERVER, type Files } from './develop-project.js'
import { expectAnswer, type Row } from './develop-row.js'

const TWO: Files = {
  'src/server.ts': SERVER,
  'src/api/one/route.ts': 'export const GET = () => ({ one: 1 })',
  'src/api/two/route.ts': 'export const GET = () => ({ two: 2 })'
}

const HTML = { accept: 'text/html,*/*' }

/** What breaks one route, by what the page must say. */
const BROKEN: readonly (readonly [string, string, RegExp])[] = [
  ['a syntax error', 'export const GET = () => ({\n  one: = 1\n})', /SyntaxError.*<pre>.*one/s],
  ['a throw at import', 'const list = undefined as any\nexport const GET = list.map(String)', /TypeError/],
  ['a missing export', 'import { none } from "twinroute"\nexport const GET = () => none', /does not provide an export/],
  ['a missing file', 'import "./none.js"\nexport const GET = () => 1', /none/],
  ['a wrong export', 'export const get = () => 1', /Did you mean GET/]
]

/** Two modules that import each other; `read` of `a.ts` gives what `b.ts` has. */
const READ = 'import { b } from "./b.js"\nexport const read = () => b\n'

const MENDED = 'export const b = 2'

const ROUTE_OF_A = 'import { read } from "../../a.js"\nexport const GET = () => ({ read: read() })'

/** What Node refuses when it is run. */
const EARLY: readonly (readonly [string, Files])[] = [
  [
    'a constant that is read',
    {
      'src/a.ts': `${READ}export const a: number = 1`,
      'src/b.ts': 'import { a } from "./a.js"\nexport const b: number = a + 1'
    }
  ],
  [
    'a class that is extended',
    { 'src/a.ts': `${READ}export class a {}`, 'src/b.ts': 'import { a } from "./a.js"\nexport class b extends a {}' }
  ],
  [
    'a default that is read',
    { 'src/a.ts': `${READ}export default { a: 1 }`, 'src/b.ts': 'import a from "./a.js"\nexport const b = String(a)' }
  ],
  [
    'a member of a namespace',
    { 'src/a.ts': `${READ}export let a = 1`, 'src/b.ts': 'import * as all from "./a.js"\nexport const b = all.a' }
  ],
  [
    'a constant that a function reads',
    {
      'src/a.ts': `${READ}export const a = 1\nexport function get() { return a }`,
      'src/b.ts': 'import { get } from "./a.js"\nexport const b = get()'
    }
  ]
]

/** What Node runs. */
const LATE: readonly (readonly [string, Files, unknown])[] = [
  [
    'a function',
    {
      'src/a.ts': `${READ}export function a() { return 1 }`,
      'src/b.ts': 'import { a } from "./a.js"\nexport const b: number = a() + 1'
    },
    2
  ],
  [
    'a var',
    { 'src/a.ts': `${READ}export var a = 1`, 'src/b.ts': 'import { a } from "./a.js"\nexport const b = String(a)' },
    'undefined'
  ],
  [
    'a function that is called when all has run',
    {
      'src/a.ts': 'import { b } from "./b.js"\nexport const a = 1\nexport const read = () => b()',
      'src/b.ts': 'import { a } from "./a.js"\nexport const b = () => a'
    },
    1
  ],
  [
    'a variable that is undefined before the module has run to its end',
    {
      'src/a.ts':
        'import { b } from "./b.js"\nexport let a: number | undefined\nconst first = String(b())\na = 1\nexport const read = () => first + String(b())',
      'src/b.ts': 'import { a } from "./a.js"\nexport const b = () => a'
    },
    'undefined1'
  ],
  [
    'a list of all that one imports from',
    {
      'src/a.ts': 'export { read } from "./all.js"',
      'src/all.ts': 'export * from "./b.js"\nexport * from "./c.js"',
      'src/b.ts': 'import { c } from "./all.js"\nexport const read = () => c',
      'src/c.ts': 'export const c = 3'
    },
    3
  ],
  [
    'names that are exported again',
    {
      'src/a.ts': 'export { c } from "./c.js"\nexport { b as read } from "./b.js"',
      'src/b.ts': 'import { c } from "./a.js"\nexport const b = () => c',
      'src/c.ts': 'export const c = 4'
    },
    4
  ]
]

export const FAULT_ROWS: Row[] = [
  ...BROKEN.map(([what, text, shown]): Row => ({
    name: `${what}: its route answers 500 with a page, all others are served, and mended it is back`,
    files: TWO,
    async run(project) {
      await project.change({ 'src/api/one/route.ts': text })
      const page = await project.get('/api/one', HTML)
      assert.equal(page.status, 500)
      assert.match(
        page.text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))),
        shown
      )
      const json = await project.get('/api/one')
      assert.equal(json.status, 500)
      assert.match((JSON.parse(json.text) as { error: { code: string } }).error.code, /^ROUTE_/)
      await expectAnswer(project, '/api/two', { two: 2 })
      await project.change({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 3 })' })
      await expectAnswer(project, '/api/one', { one: 3 })
    }
  })),
  {
    name: 'two files for one path break that path alone',
    files: TWO,
    async run(project) {
      await project.change({ 'src/api/(group)/one/route.ts': 'export const GET = () => ({ one: 2 })' })
      assert.equal((await project.get('/api/one')).status, 500)
      await expectAnswer(project, '/api/two', { two: 2 })
      await project.reload(() => project.remove('src/api/(group)'))
      await expectAnswer(project, '/api/one', { one: 1 })
    }
  },
  {
    name: 'a broken shared module breaks the routes that import it, no others',
    files: {
      ...TWO,
      'src/name.ts': 'export const name = 1',
      'src/api/one/route.ts': 'import { name } from "../../name.js"\nexport const GET = () => ({ one: name })'
    },
    async run(project) {
      await project.change({ 'src/name.ts': 'throw new Error("broken")' })
      assert.match((await project.get('/api/one')).text, /Error: broken/)
      await expectAnswer(project, '/api/two', { two: 2 })
      await project.change({ 'src/name.ts': 'export const name = 2' })
      await expectAnswer(project, '/api/one', { one: 2 })
    }
  },
  {
    name: 'a broken middleware map, or program: every request gets the page, since nothing may pass unguarded',
    files: { ...TWO, 'src/middleware.ts': 'export const middleware = {}' },
    async run(project) {
      await project.change({ 'src/middleware.ts': 'export const middleware = { "/api/[[": [] }' })
      for (const path of ['/api/one', '/api/two', '/']) assert.equal((await project.get(path)).status, 500)
      await project.change({ 'src/middleware.ts': 'export const middleware = {}' })
      await expectAnswer(project, '/api/one', { one: 1 })
      await project.change({ 'src/server.ts': 'throw new Error("no program")' })
      assert.match((await project.get('/api/one')).text, /no program/)
      await project.change({ 'src/server.ts': SERVER })
      await expectAnswer(project, '/api/one', { one: 1 })
    }
  },
  {
    name: 'an application that does not start at first shows why at its likely address, and starts when it is mended',
    files: { ...TWO, 'src/server.ts': 'export const x: = 1' },
    env: { PORT: '0' },
    async run(project) {
      assert.match((await project.get('/anything')).text, /SyntaxError/)
      await project.reload(() => project.write({ 'src/server.ts': SERVER }))
      const [, address = ''] = await project.says(/(http:\/\/\S+) ready in|reloaded in/)
      if (address !== '') project.address = address
      await expectAnswer(project, '/api/one', { one: 1 })
    }
  },
  {
    name: 'a directory of route files that is not there is to be created, and nothing else',
    files: { 'src/server.ts': SERVER },
    env: { PORT: '0' },
    async run(project) {
      await project.says(
        /The option apiDir, src\/api, leads to .* not exist \(API_DIR_NOT_FOUND\)\n +src\/api\n +Fix: Create it\n/
      )
    }
  },
  {
    name: 'an import of a module that is not there is told with its place in the source',
    files: { ...TWO, 'src/api/one/route.ts': "import { a } from './nowhere.js'\nexport const GET = () => a" },
    async run(project) {
      await project.says(
        /\n {2}src\/api\/one\/route\.ts:1:19\n {2}Error: Cannot find module '\.\/nowhere\.js'\n {2}> 1 \| import .*\n {6}\| {19}\^\n/
      )
      assert.doesNotMatch(project.printed, /Require stack/)
    }
  },
  {
    name: 'a boot warning is told once, and again when it was gone',
    files: {
      ...TWO,
      'src/middleware.ts': "export const middleware = { '/api/none': [] }"
    },
    async run(project) {
      const told = (): number => project.printed.split('MIDDLEWARE_KEY_UNUSED').length - 1
      await project.says(/MIDDLEWARE_KEY_UNUSED/)
      const first = told()
      await project.change({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 5 })' })
      assert.equal(told(), first)
      await project.change({ 'src/middleware.ts': "export const middleware = { '/api/one': [] }" })
      await project.change({ 'src/middleware.ts': "export const middleware = { '/api/none': [] }" })
      assert.equal(told(), 2 * first)
    }
  },
  {
    name: 'a program that ends itself because it cannot start',
    files: {
      ...TWO,
      'src/server.ts': `
        import { createApp } from 'twinroute'
        import { port } from './port.js'
        async function main() { if (port !== 0) throw new Error('bad port'); await (await createApp({ apiDir: new URL('./api', import.meta.url), port })).start() }
        main().catch((error) => { console.error(error.message); process.exit(1) })`,
      'src/port.ts': 'export const port: number = 0'
    },
    async run(project) {
      await expectAnswer(project, '/api/one', { one: 1 })
      await project.change({ 'src/port.ts': 'export const port: number = 1' })
      assert.match((await project.get('/api/one')).text, /process\.exit\(1\)/)
      await project.change({ 'src/port.ts': 'export const port: number = 0' })
      await expectAnswer(project, '/api/one', { one: 1 })
    }
  },
  {
    name: 'a top-level await that never ends: the application before it answers, and the next change is loaded',
    files: TWO,
    async run(project) {
      project.write({ 'src/api/one/route.ts': 'await new Promise(() => {})\nexport const GET = () => 1' })
      await project.says(/still waits: a top-level await in src\/api\/one\/route\.ts/)
      await expectAnswer(project, '/api/two', { two: 2 })
      await project.change({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 4 })' })
      await expectAnswer(project, '/api/one', { one: 4 })
    }
  },
  {
    name: 'an endless loop: the process is ended, and the next one loads the mended file',
    files: TWO,
    async run(project) {
      await project.change({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 5 })' })
      project.write({ 'src/api/one/route.ts': 'console.log("loops")\nfor (;;);' })
      await project.says(/^loops/m)
      project.write({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 6 })' })
      await project.says(/is ended because of a change: src\/api\/one\/route\.ts/)
      await project.eventually('/api/one', '{"one":6}')
    }
  },
  {
    name: 'modules that import each other',
    files: {
      ...TWO,
      'src/a.ts':
        'import { b } from "./b.js"\nexport function a(): string { return "a" }\nexport const both = () => a() + b()',
      'src/b.ts': 'import { a } from "./a.js"\nexport function b(): string { return "b" + a() }',
      'src/api/one/route.ts': 'import { both } from "../../a.js"\nexport const GET = () => ({ both: both() })'
    },
    async run(project) {
      await expectAnswer(project, '/api/one', { both: 'aba' })
      await project.change({ 'src/b.ts': 'import { a } from "./a.js"\nexport const b = (): string => "B" + a()' })
      await expectAnswer(project, '/api/one', { both: 'aBa' })
    }
  },
  {
    name: 'modules in a circle: a name that is read before it has a value is the error that Node throws, and corrected it is back',
    files: { ...TWO, 'src/a.ts': READ, 'src/b.ts': MENDED, 'src/api/one/route.ts': ROUTE_OF_A },
    async run(project) {
      for (const [what, files] of EARLY) {
        await project.reload(() => project.write(files))
        await project.eventually('/api/one', 500)
        const { text } = await project.get('/api/one')
        assert.match(text, /ReferenceError: Cannot access '\w+' before initialization/, what)
        await expectAnswer(project, '/api/two', { two: 2 })
        await project.change({ 'src/b.ts': MENDED })
        await project.eventually('/api/one', '{"read":2}')
      }
    }
  },
  {
    name: 'modules in a circle that Node runs',
    files: { ...TWO, 'src/a.ts': READ, 'src/b.ts': MENDED, 'src/api/one/route.ts': ROUTE_OF_A },
    async run(project) {
      for (const [what, files, read] of LATE) {
        project.write(files)
        const answer = JSON.stringify({ read })
        await project.eventually('/api/one', answer).catch((error: Error) => assert.fail(`${what}: ${error.message}`))
        for (const [file, text] of Object.entries(files)) {
          await project.change({ [file]: `${text}\n// again` })
          await project.eventually('/api/one', answer)
        }
      }
    }
  },
  {
    name: 'a broken route does not keep the document of the others from being made',
    files: {
      ...TWO,
      'src/server.ts': SERVER.replace(
        'await app.start()',
        "await app.register((await import('twinroute/openapi')).openapi)\nawait app.start()"
      )
    },
    async run(project) {
      await project.change({ 'src/api/one/route.ts': 'export const GET = (' })
      const { status, text } = await project.get('/docs/openapi.json')
      assert.equal(status, 200)
      assert.ok(Object.keys((JSON.parse(text) as { paths: object }).paths).includes('/api/two'))
    }
  },
  {
    name: 'an error that nobody catches is told and ends nothing',
    files: {
      ...TWO,
      'src/api/one/route.ts':
        'export const GET = () => { setTimeout(() => { throw new Error("late") }); return { one: 1 } }'
    },
    async run(project) {
      await expectAnswer(project, '/api/one', { one: 1 })
      await project.says(/Error: late/)
      await expectAnswer(project, '/api/two', { two: 2 })
    }
  }
]
