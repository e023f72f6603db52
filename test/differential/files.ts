import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { get, handler, INJECTED_URL, router, type Ask, type Handle } from './scenario.js'

/** Files with a fixed time, so that their validators are the same everywhere. */
export const folder = mkdtempSync(join(tmpdir(), 'twinroute-differential-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const FILES = {
  'hello.txt': 'hello world',
  'page.html': '<p>ü</p>',
  'data.json': '{"a":1}',
  'empty.txt': '',
  'ä b.txt': 'encoded',
  'no-extension': 'plain',
  '.hidden': 'secret',
  'blog/index.html': '<p>blog</p>',
  '.dir/file.txt': 'in a hidden folder',
  'numbers.txt': '0123456789'.repeat(10)
}
const TIME = new Date('2026-01-01T00:00:00Z')

for (const [path, text] of Object.entries(FILES)) {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), text)
  utimesSync(join(folder, path), TIME, TIME)
}

const SINCE = TIME.toUTCString()
const NUMBERS_TAG = `W/"64-${TIME.getTime().toString(16)}"`

/** One that is served by `static()`. */
function serving(rule: string, asks: readonly Ask[], options: object = {}, path = '/') {
  return router(rule, (app, e) => app.use(path, e.static(folder, options)), asks)
}

function sends(rule: string, handle: Handle, asks: readonly Ask[] = ['GET']) {
  return handler(rule, handle, { asks })
}

const ranges: readonly Ask[] = [
  get({ range: 'bytes=0-9' }, '/numbers.txt'),
  get({ range: 'bytes=95-' }, '/numbers.txt'),
  get({ range: 'bytes=-5' }, '/numbers.txt'),
  get({ range: 'bytes=0-1,5-6' }, '/numbers.txt'),
  get({ range: 'bytes=500-' }, '/numbers.txt'),
  get({ range: 'nonsense' }, '/numbers.txt'),
  get({ range: 'bytes=0-9', 'if-range': NUMBERS_TAG }, '/numbers.txt'),
  get({ range: 'bytes=0-9', 'if-range': SINCE }, '/numbers.txt'),
  get({ range: 'bytes=0-9', 'if-range': 'Wed, 31 Dec 2025 00:00:00 GMT' }, '/numbers.txt'),
  { line: 'HEAD /numbers.txt', headers: { range: 'bytes=0-9' } }
]

const conditions: readonly Ask[] = [
  get({ 'if-none-match': NUMBERS_TAG }, '/numbers.txt'),
  get({ 'if-none-match': '*' }, '/numbers.txt'),
  get({ 'if-none-match': '"other"' }, '/numbers.txt'),
  get({ 'if-modified-since': SINCE }, '/numbers.txt'),
  get({ 'if-modified-since': 'Wed, 31 Dec 2025 00:00:00 GMT' }, '/numbers.txt'),
  get({ 'if-none-match': NUMBERS_TAG, 'cache-control': 'no-cache' }, '/numbers.txt'),
  get({ 'if-match': '"other"' }, '/numbers.txt'),
  get({ 'if-match': NUMBERS_TAG }, '/numbers.txt'),
  get({ 'if-unmodified-since': 'Wed, 31 Dec 2025 00:00:00 GMT' }, '/numbers.txt')
]

export const fileScenarios = [
  serving('static() sends files', [
    'GET /hello.txt',
    'HEAD /hello.txt',
    'GET /page.html',
    'GET /data.json',
    'GET /no-extension',
    'GET /empty.txt'
  ]),
  serving('static() ignores the query', ['GET /hello.txt?a=1']),
  serving('static() passes on what it does not have', ['GET /none.txt', 'GET /hello.txt/x', 'POST /hello.txt']),
  serving('static() sends the index', ['GET /blog/', 'GET /blog/index.html']),
  serving('static() adds the slash of a folder', ['GET /blog', 'GET /blog?a=1', 'HEAD /blog']),
  serving(
    'static() below a path',
    ['GET /static/blog', 'GET /static/hello.txt', 'GET /static/blog/?x', 'GET /static', 'GET /hello.txt'],
    {},
    '/static'
  ),
  serving('static() decodes names', ['GET /%C3%A4%20b.txt', 'GET /%68ello.txt']),
  router(
    'static() stays in its folder',
    (app, e) => app.use(e.static(folder)),
    [
      'GET /../hello.txt',
      'GET /%2e%2e/hello.txt',
      'GET /blog/..%2fhello.txt',
      'GET /a%00b',
      'GET /%zz',
      'GET /..%5c..%5cx'
    ],
    INJECTED_URL
  ),
  serving('static() hides dotfiles', ['GET /.hidden', 'GET /.dir/file.txt']),
  serving('static({ dotfiles: "deny" })', ['GET /.hidden', 'GET /hello.txt'], { dotfiles: 'deny' }),
  serving('static({ dotfiles: "allow" })', ['GET /.hidden', 'GET /.dir/file.txt'], { dotfiles: 'allow' }),
  serving('static({ extensions })', ['GET /hello', 'GET /page', 'GET /none'], { extensions: ['txt', 'html'] }),
  serving('static({ fallthrough: false })', ['GET /none.txt', 'POST /hello.txt', 'GET /%zz'], { fallthrough: false }),
  serving('static({ index: false })', ['GET /blog/'], { index: false }),
  serving('static({ redirect: false })', ['GET /blog'], { redirect: false }),
  serving('static({ maxAge, immutable })', ['GET /hello.txt'], { maxAge: '1d', immutable: true }),
  serving('static({ etag, lastModified: false })', ['GET /hello.txt'], { etag: false, lastModified: false }),
  serving('static({ cacheControl: false })', ['GET /hello.txt'], { cacheControl: false }),
  serving('static({ acceptRanges: false })', [get({ range: 'bytes=0-1' }, '/hello.txt')], { acceptRanges: false }),
  serving('static({ setHeaders })', ['GET /hello.txt'], {
    setHeaders: (res: any, path: string) => res.setHeader('X-Path', path.split('/').at(-1))
  }),
  serving('static() answers ranges', ranges),
  serving('static() answers conditional requests', conditions),
  router(
    'static() under headers of a middleware',
    (app, e) => {
      app.use((_req: any, res: any, next: any) => next(void res.set('X-A', '1').cookie('a', 'b').vary('Origin')))
      app.use(e.static(folder))
    },
    ['GET /hello.txt', 'GET /blog']
  ),
  router('two folders', (app, e) => app.use(e.static(join(folder, 'blog'))).use(e.static(folder)), [
    'GET /index.html',
    'GET /hello.txt'
  ]),

  sends('sendFile() of a path', (_req, res) => res.sendFile(join(folder, 'hello.txt')), [
    'GET',
    'HEAD',
    get({ range: 'bytes=0-4' }),
    get({ 'if-modified-since': SINCE })
  ]),
  sends('sendFile({ root })', (_req, res) => res.sendFile('hello.txt', { root: folder })),
  sends('sendFile() of an umlaut', (_req, res) => res.sendFile('ä b.txt', { root: folder })),
  sends('sendFile({ headers, maxAge })', (_req, res) =>
    res.sendFile('hello.txt', { root: folder, headers: { 'X-A': '1', 'Content-Type': 'text/x' }, maxAge: 60_000 })
  ),
  sends('sendFile() keeps the Content-Type', (_req, res) => res.type('text/x').sendFile('hello.txt', { root: folder })),
  sends('sendFile() after status()', (_req, res) => res.status(404).sendFile('page.html', { root: folder })),
  sends('sendFile() of a relative path throws', (_req, res) => {
    try {
      res.sendFile('hello.txt')
    } catch (error) {
      res.send((error as Error).message)
    }
  }),
  sends('sendFile() without a path throws', (_req, res) => {
    try {
      res.sendFile()
    } catch (error) {
      res.send((error as Error).message)
    }
  }),
  sends('sendFile() tells its callback', (_req, res) =>
    res.sendFile('none.txt', { root: folder }, (error: any) =>
      res.status(error.status).json([error.code, error.status])
    )
  ),
  sends('sendFile() of a hidden file', (_req, res) =>
    res.sendFile('.hidden', { root: folder }, (error: any) => res.status(error.status).send('hidden'))
  ),
  sends('sendFile({ dotfiles: "allow" })', (_req, res) => res.sendFile('.hidden', { root: folder, dotfiles: 'allow' })),
  sends('sendFile() of a folder', (_req, res) =>
    res.sendFile('blog', { root: folder }, (error: any) => res.status(500).send(error.code))
  ),
  sends('sendFile() out of the root', (_req, res) =>
    res.sendFile('../x', { root: folder }, (error: any) => res.status(error.status).send('out'))
  ),
  sends('download()', (_req, res) => res.download(join(folder, 'hello.txt')), ['GET', 'HEAD']),
  sends('download() with a name', (_req, res) => res.download(join(folder, 'hello.txt'), 'Grüße.txt')),
  sends('download() with options', (_req, res) =>
    res.download('hello.txt', 'a.txt', { root: folder, headers: { 'X-A': '1' } })
  ),
  sends('download() tells its callback', (_req, res) =>
    res.download(join(folder, 'none'), (error: any) =>
      res.status(404).set('Content-Disposition', 'none').send(error.code)
    )
  )
]
