// ci: once (asks the compiler's language service, which does not depend on Node)
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { parsePage } from './support/pages.js'
import { root } from './support/source-tree.js'

// What an editor shows of the types: the text of a hover, the documentation of a member, the message of a mistake.

const FILE = join(root, 'test/editor-sample.ts')

const SAMPLE = `
import { defineHandler, type Handler, type Request, type Response } from 'twinroute'
import { createClient, type ErrorEnvelope } from 'twinroute/client'
import { z } from 'zod'

const Note = z.object({
  id: z.number().int(),
  title: z.string().trim().min(2).max(100),
  created: z.date(),
  tags: z.array(z.enum(['a', 'b'])).default([]),
  author: z.object({ name: z.string(), email: z.email().optional() }).nullable()
})
const Problem = z.object({ message: z.string() })

const notes = {
  GET: defineHandler({ query: z.object({ limit: z.coerce.number().default(20) }), response: z.array(Note) }, ({ query }) => {
    const queryOfGet = query
    return queryOfGet.limit > 1 ? [] : []
  }),
  POST: defineHandler(
    { params: z.object({ team: z.string() }), body: Note.omit({ id: true }), response: { 201: Note, 409: Problem } },
    (request) => {
      const bodyOfPost = request.body
      const paramsOfPost = request.params
      return { status: 409, body: { message: bodyOfPost.title + paramsOfPost.team } }
    }
  )
}

interface Routes {
  '/api/teams/[team]/notes': typeof notes
}

const client = createClient<Routes, ErrorEnvelope>()
const ask = { params: { team: 'blue' }, body: { title: 'a', created: new Date(), author: null } }
const answerOfPost = await client.POST('/api/teams/[team]/notes', ask)
if (answerOfPost.status === 201) {
  const createdBody = answerOfPost.body
  createdBody.id
} else if (answerOfPost.status === 409) {
  const takenBody = answerOfPost.body
  takenBody.message
}
const answerOfGet = await client.GET('/api/teams/[team]/notes', { params: { team: 'blue' } })
if (answerOfGet.ok) {
  const listedBody = answerOfGet.body
  const [listedNote] = listedBody
}
await client.POST('/api/teams/[team]/notes', { params: { team: 'blue' }, body: { titel: 'wrong field' } })
await client.GET('/api/team/notes', {})

declare const request: Request
declare const response: Response
`

const config = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config,
  ts.sys,
  root
)

/** Files that all editors read are parsed once. */
const registry = ts.createDocumentRegistry()

/** The language service of an editor in which a file with this text is open. */
function openEditor(text: string): ts.LanguageService {
  const host: ts.LanguageServiceHost = {
    getCompilationSettings: () => ({ ...config.options, rootDir: root }),
    getScriptFileNames: () => [FILE],
    getScriptVersion: (file) => (file === FILE ? text : '1'),
    getScriptSnapshot: (file) => {
      const found = file === FILE ? text : ts.sys.readFile(file)
      return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found)
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    fileExists: (file) => file === FILE || ts.sys.fileExists(file),
    readFile: (file) => (file === FILE ? text : ts.sys.readFile(file)),
    directoryExists: (folder) => ts.sys.directoryExists(folder),
    getDirectories: (folder) => ts.sys.getDirectories(folder)
  }
  return ts.createLanguageService(host, registry)
}

/** The names of all members of a variable of the sample. */
function membersOf(variable: string): string[] {
  const at = SAMPLE.indexOf(`const ${variable}:`) + 'const '.length
  const program = editor.getProgram()
  const file = program?.getSourceFile(FILE)
  if (program === undefined || file === undefined) throw new Error('the sample is not open')
  const checker = program.getTypeChecker()
  const find = (node: ts.Node): ts.Node | undefined =>
    ts.forEachChild(node, find) ?? (node.getStart() === at && ts.isIdentifier(node) ? node : undefined)
  const name = find(file)
  if (name === undefined) throw new Error(`${variable} is not in the sample`)
  const members = checker.getPropertiesOfType(checker.getTypeAtLocation(name)).map((member) => member.name)
  return members.filter((member) => /^[a-z_$][\w$]*$/i.test(member) && !member.startsWith('__@'))
}

const editor = openEditor(SAMPLE)

/** The hover of a name, where it is declared. */
function hoverOf(name: string): string {
  const found = editor.getQuickInfoAtPosition(FILE, SAMPLE.search(new RegExp(`\\b${name}\\b`)))
  return ts.displayPartsToString(found?.displayParts)
}

/** Names of the types behind a plain one: of zod, and of our own inference. */
const INTERNALS =
  /Zod|\$Z|core\.|_zod|~standard|Schema|Infer|AsJson|Arrived|Declared|AnswerOf|DeepReadonly|Flat<|Part<|typeof Note/

const NOTE = `{
    id: number;
    title: string;
    created: string;
    tags: ("a" | "b")[];
    author: {
        name: string;
        email?: string | undefined;
    } | null;
}`

const HOVERS: readonly { name: string; text: string }[] = [
  { name: 'createdBody', text: `const createdBody: ${NOTE}` },
  { name: 'takenBody', text: 'const takenBody: {\n    message: string;\n}' },
  { name: 'listedBody', text: `const listedBody: ${NOTE}[]` },
  { name: 'listedNote', text: `const listedNote: ${NOTE} | undefined` },
  { name: 'queryOfGet', text: 'const queryOfGet: {\n    limit: number;\n}' },
  { name: 'paramsOfPost', text: 'const paramsOfPost: {\n    team: string;\n}' },
  {
    name: 'bodyOfPost',
    text: `const bodyOfPost: ${NOTE.replace('    id: number;\n', '').replace('created: string', 'created: Date')}`
  }
]

for (const { name, text } of HOVERS) {
  t.test(`the hover of ${name} is the plain type`, async (t) => t.equal(hoverOf(name), text))
}

/** What still fits into the box of an editor. */
const MAX_HOVER = 600

t.test('the hover of an answer is short, and holds no types of schemas', async (t) => {
  for (const name of ['answerOfPost', 'answerOfGet']) {
    const text = hoverOf(name)
    t.match(text, /^const \w+: .*Answer</, text)
    t.notMatch(text, INTERNALS)
    t.ok(text.length <= MAX_HOVER, `${text.length} characters`)
  }
})

t.test('what the compiler says of a wrong call is short, and names what is wrong', async (t) => {
  const messages = editor
    .getSemanticDiagnostics(FILE)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  t.equal(messages.length, 2, messages.join('\n\n'))
  const [field = '', path = ''] = messages
  t.match(field, 'titel')
  t.match(path, '/api/teams/[team]/notes')
  for (const message of messages) {
    t.notMatch(message, INTERNALS)
    t.ok(message.length <= MAX_HOVER, `${message.length} characters`)
  }
})

t.test(
  'a wrong path is named also where the call has no second argument, which the right path would need',
  async (t) => {
    const text = `
    import { defineHandler } from 'twinroute'
    import { createClient } from 'twinroute/client'
    import { z } from 'zod'
    const POST = defineHandler({ body: z.object({ title: z.string() }) }, () => ({}))
    const DELETE = defineHandler({ params: z.object({ id: z.string() }) }, () => ({}))
    interface Routes {
      '/api/notes': { GET: () => string; POST: typeof POST }
      '/api/notes/[id]': { DELETE: typeof DELETE }
      '/api/teams/[id]': { DELETE: typeof DELETE }
    }
    const client = createClient<Routes>()
    client.POST('/api/nots')
    client.DELETE('/api/notes')
    client.PUT('/api/notes')
    client.POST('/api/notes')`
    const messages = openEditor(text)
      .getSemanticDiagnostics(FILE)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
    t.strictSame(messages, [
      `Argument of type '"/api/nots"' is not assignable to parameter of type '"/api/notes"'.`,
      `Argument of type '"/api/notes"' is not assignable to parameter of type '"/api/notes/[id]" | "/api/teams/[id]"'.`,
      `Argument of type '"/api/notes"' is not assignable to parameter of type 'never'.`,
      'Expected 2 arguments, but got 1.'
    ])
  }
)

t.test('an editor completes the paths of a method', async (t) => {
  const text = `
    import { createClient } from 'twinroute/client'
    interface Routes {
      '/api/notes': { GET: () => string }
      '/api/notes/[id]': { GET: () => string; DELETE: () => string }
    }
    createClient<Routes>().GET('')
    createClient<Routes>().DELETE('')`
  const editor = openEditor(text)
  const completions = (method: string) =>
    editor
      .getCompletionsAtPosition(FILE, text.indexOf(`${method}('`) + method.length + 2, {})
      ?.entries.map(({ name }) => name)
  t.strictSame(completions('GET'), ['/api/notes', '/api/notes/[id]'])
  t.strictSame(completions('DELETE'), ['/api/notes/[id]'])
})

const MISTAKES: readonly { rule: string; call: string; says: RegExp }[] = [
  {
    rule: 'a status that is not declared',
    call: 'defineHandler({ body: New, response: { 201: Note } }, (request) => ({ status: 202, body: { id: 1, ...request.body } }))',
    says: /readonly status: 202/
  },
  {
    rule: 'a body that breaks its schema',
    call: "defineHandler({ response: { 201: Note } }, () => ({ status: 201, body: { id: 'one', title: '' } }))",
    says: /'body\.id' are incompatible .*'string' is not assignable to type 'number'/s
  },
  {
    rule: 'a key that is none',
    call: 'defineHandler({ boddy: New, response: { 200: Note } }, () => ({ id: 1, title: "" }))',
    says: /'boddy' does not exist .* Did you mean to write 'body'\?/s
  },
  {
    rule: 'a request that says nothing of the body',
    call: 'defineHandler({ body: New, response: Note }, (request: Request<{ user: string }>) => ({ id: 1, title: request.body.no.title }))',
    says: /'the type of this request does not say what a schema makes of its': "body"/
  }
]

for (const { rule, call, says } of MISTAKES) {
  t.test(`the last signature of defineHandler, all that some compilers print, names ${rule}`, async (t) => {
    const text = `
      import { defineHandler, type Request } from 'twinroute'
      import { z } from 'zod'
      const New = z.object({ title: z.string() })
      const Note = New.extend({ id: z.number() })
      ${call}`
    const messages = openEditor(text)
      .getSemanticDiagnostics(FILE)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    t.equal(messages.length, 1)
    const [, last = ''] = messages[0]?.split('Overload 2 of 2') ?? []
    t.match(last, says)
  })
}

/** What node's own types say nothing of, and few programs write. */
const NODE_BARE = new Set([
  ...['pipe', 'push', 'compose', 'httpVersionMajor', 'httpVersionMinor'].map((name) => `request.${name}`),
  ...['pipe', 'compose', 'assignSocket', 'detachSocket', 'chunkedEncoding'].map((name) => `response.${name}`),
  ...['shouldKeepAlive', 'useChunkedEncodingByDefault', 'sendDate', 'finished'].map((name) => `response.${name}`)
])

t.test('every member of a request and of a response is described on hover', async (t) => {
  const members = ['request', 'response'].flatMap((variable) =>
    membersOf(variable).map((name) => `${variable}.${name}`)
  )
  t.ok(members.length > 180, `${members.length} members`)
  const hovering = openEditor(`${SAMPLE}\n${members.join('\n')}\n`)
  let position = SAMPLE.length + 1
  const bare = members.filter((member) => {
    const info = hovering.getQuickInfoAtPosition(FILE, position + member.indexOf('.') + 1)
    position += member.length + 1
    return ts.displayPartsToString(info?.documentation) === '' && !member.includes('._') // what node keeps for subclasses
  })
  t.strictSame(
    bare.filter((member) => !NODE_BARE.has(member)),
    []
  )
})

const DECLARED = `
import { defineHandler } from 'twinroute'
import { z } from 'zod'
export const GET = defineHandler({ query: z.object({ limit: z.number().optional() }) }, () => ({ at: new Date() }))
export const POST = defineHandler(
  { params: z.object({ id: z.string() }), body: z.object({ title: z.string() }), response: { 201: z.object({ id: z.number() }) } },
  () => ({ status: 201, body: { id: 1 } })
)
export const DELETE = defineHandler({ summary: 'Removes' }, () => ({ status: 204 as const }))
`

t.test('a route file has declarations, from which a client of another repository has the same types', async (t) => {
  const editor = openEditor(DECLARED)
  t.strictSame(
    editor.getSemanticDiagnostics(FILE).map(({ messageText }) => messageText),
    []
  )
  const { outputFiles } = editor.getEmitOutput(FILE, true)
  const declarations = outputFiles.find(({ name }) => name.endsWith('.d.ts'))?.text ?? ''
  t.match(declarations, 'export declare const POST')
  const client = `${declarations}
    import { createClient } from 'twinroute/client'
    interface Routes { '/api/[id]': { GET: typeof GET; POST: typeof POST; DELETE: typeof DELETE } }
    const client = createClient<Routes>()
    const read = await client.GET('/api/[id]', { params: { id: '1' }, query: { limit: 5 } })
    const added = await client.POST('/api/[id]', { params: { id: '1' }, body: { title: 'a' } })
    export const types: { read: string; added: number } | false = read.ok && added.ok && {
      read: read.body.at, added: added.body.id
    }
    client.POST('/api/[id]', { params: { id: '1' }, body: { titel: 'a' } })`
  const messages = openEditor(client)
    .getSemanticDiagnostics(FILE)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
  t.match(messages, [/titel/])
})

/** What the page has a project write once, with what it imports. */
function augmentation(): string {
  const { blocks } = parsePage('request.md', readFileSync(join(root, 'docs/request.md'), 'utf8'))
  const text = blocks.find((block) => block.text.includes('services: '))?.text ?? ''
  return text.replace(/^import .*$/m, 'interface NoteStore { count(): number }')
}

const AUGMENTED = `
import { defineHandler, type Middleware, type Request } from 'twinroute'
${augmentation()}
export const GET = defineHandler({ summary: 'Typed' }, (request) => {
  const countInTypedHandler = request.services.notes.count()
  return countInTypedHandler
})
export const guard: Middleware = (request, _response, next) => {
  const roleInMiddleware = request.user?.role
  request.user = { id: '1', role: roleInMiddleware ?? 'reader' }
  next()
}
export function POST(request: Request<'/users/[id]'>) {
  const cartInHandler = request.session.cart
  return [cartInHandler, request.params.id]
}
export function PUT(request: Request<{ user: User }>) {
  const idBehindGuard = request.user.id
  return idBehindGuard
}
`

t.test('user, session and services have the types that the page adds in one place', async (t) => {
  const editor = openEditor(AUGMENTED)
  const messages = editor.getSemanticDiagnostics(FILE).map(({ messageText }) => messageText)
  t.strictSame(messages, [])
  const types = ['countInTypedHandler', 'roleInMiddleware', 'cartInHandler', 'idBehindGuard'].map((name) => {
    const info = editor.getQuickInfoAtPosition(FILE, AUGMENTED.indexOf(name))
    return ts.displayPartsToString(info?.displayParts)
  })
  t.strictSame(types, [
    'const countInTypedHandler: number',
    'const roleInMiddleware: "reader" | "editor" | undefined',
    'const cartInHandler: string[] | undefined',
    'const idBehindGuard: string'
  ])
})
