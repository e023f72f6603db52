import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cannotMount, runMounting } from './mounting.js'

/** How `create-twinroute` is started, and a folder that is removed later. */
export interface Creator {
  command: string
  scratch: string
  env: NodeJS.ProcessEnv
}

/** What somebody types, and what must come of it. */
export interface CreateRow {
  name: string
  run(creator: Creator): Promise<void> | void
}

interface Refused {
  args: readonly string[]
  says: RegExp
  /** Default: 2, wrong use. */
  code?: number
  /** Files that are there before; a text that begins with `->` makes a link. */
  files?: Readonly<Record<string, string>>
  /** The folder `disk` is another file system. */
  disk?: keyof typeof DISKS
}

/** Options of mount. */
const DISKS = { 'a full disk': 'size=8k', 'a read-only disk': 'ro' }

const REFUSED: readonly Refused[] = [
  { args: ['--template', 'huge'], says: /^There is no template huge; there are minimal, api, express\n$/ },
  { args: ['--tempalte', 'api'], says: /^Unknown option '--tempalte'\nThe options are --template, --name, --yes/ },
  { args: ['--template'], says: /^Option '--template <value>' argument missing\nThe options are/ },
  { args: ['one', 'two'], says: /^One folder is made at a time: leave out two\n$/ },
  { args: ['--name', 'My App'], says: /^npm refuses the name "My App": .* Name it like my-app or @me\/my-app\n$/ },
  { args: ['--name', 'node_modules'], says: /^npm refuses the name "node_modules": / },
  { args: ['app', '--name', ''], says: /^npm refuses the name "": / },
  { args: ['--name', '../up'], says: /^npm refuses the name "\.\.\/up": / },
  {
    args: ['full'],
    files: { 'full/notes.txt': '' },
    says: /^full is not empty \(it holds notes\.txt\): name a new folder\n$/
  },
  { args: ['.'], files: { 'notes.txt': '' }, says: /^\. is not empty \(it holds notes\.txt\)/ },
  { args: ['taken'], files: { taken: '' }, says: /^taken is not a folder: name another one\n$/ },
  { args: ['taken/below/it'], files: { taken: '' }, says: /^taken is not a folder: name another one\n$/ },
  { args: ['link'], files: { link: '-> nowhere' }, says: /^link is not a folder: name another one\n$/ },
  { args: [''], says: /^Name a folder\n$/ },
  { args: ['/proc/app'], code: 1, says: /^\/proc\/app cannot be made: ENOENT: .*\n$/ },
  { args: [`new/${'x'.repeat(300)}`], code: 1, says: /^new\/x+ cannot be made: ENAMETOOLONG: .*\n$/ },
  { args: ['disk/app'], disk: 'a read-only disk', code: 1, says: /^disk\/app cannot be made: EROFS: .*\n$/ },
  { args: ['disk'], disk: 'a read-only disk', code: 1, says: /^disk cannot be made: EROFS: .*\n$/ },
  { args: ['disk/app'], disk: 'a full disk', code: 1, says: /^disk\/app cannot be made: ENOSPC: .*\n$/ },
  { args: ['disk'], disk: 'a full disk', code: 1, says: /^disk cannot be made: ENOSPC: .*\n$/ }
]

function refuses({ command, scratch, env }: Creator, { args, says, code = 2, files = {}, disk }: Refused): void {
  const cwd = mkdtempSync(join(scratch, 'refused-'))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, file)), { recursive: true })
    if (text.startsWith('-> ')) symlinkSync(text.slice(3), join(cwd, file))
    else writeFileSync(join(cwd, file), text)
  }
  if (disk !== undefined) mkdirSync(join(cwd, 'disk'))
  const before = readdirSync(cwd, { recursive: true })
  const { status, stdout, stderr } =
    disk === undefined
      ? spawnSync(command, [...args], { cwd, env, encoding: 'utf8' })
      : runMounting(`mount -t tmpfs -o ${DISKS[disk]} tmpfs disk && "$@"; code=$?; ls -A disk; exit $code`, {
          args: [command, ...args],
          cwd,
          env
        })
  assert.match(stderr, says)
  assert.equal(stdout, '') // on the disk nothing is left, either
  assert.equal(status, code)
  assert.deepEqual(readdirSync(cwd, { recursive: true }), before)
}

function madeIn({ command, scratch, env }: Creator, args: readonly string[]): string {
  const cwd = mkdtempSync(join(scratch, 'made-'))
  const { status, stderr } = spawnSync(command, [...args], { cwd, env, encoding: 'utf8' })
  assert.equal(stderr, '')
  assert.equal(status, 0)
  return cwd
}

/** npm takes the command that is installed in a folder above. */
function npmCreate(args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
  return spawnSync('npm', ['create', 'twinroute', ...args], { ...options, encoding: 'utf8' })
}

function nameIn(folder: string): unknown {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: unknown }).name
}

const MADE: readonly CreateRow[] = [
  {
    name: 'folders whose names npm refuses get a name that it takes',
    run(creator) {
      for (const [folder, name] of [
        ['My App', 'my-app'],
        ['http', 'http-app'],
        ['~draft', 'draft'],
        ['.hidden', 'hidden'],
        ['y'.repeat(250), 'y'.repeat(200)]
      ] as const)
        assert.equal(nameIn(join(madeIn(creator, [folder]), folder)), name)
    }
  },
  {
    name: 'a name with a scope makes a folder without it',
    run: (creator) => assert.equal(nameIn(join(madeIn(creator, ['--name', '@me/shop']), 'shop')), '@me/shop')
  },
  {
    name: 'the README has the name of the project',
    run(creator) {
      for (const template of ['minimal', 'api', 'express']) {
        const folder = join(madeIn(creator, ['--name', '@me/shop', '--template', template]), 'shop')
        const page = readFileSync(join(folder, 'README.md'), 'utf8')
        assert.match(page, /^# @me\/shop\n/)
        assert.doesNotMatch(page, /my-app/)
        if (template === 'api') assert.match(page, /`docker build -t shop \. && docker run .* shop`/)
      }
    }
  },
  {
    name: 'npm create twinroute passes on what follows --',
    run: ({ scratch, env }) => {
      const cwd = mkdtempSync(join(scratch, 'npm-'))
      const { status } = npmCreate(['shop', '--', '--name', 'store'], { cwd, env })
      assert.deepEqual([status, nameIn(join(cwd, 'shop'))], [0, 'store'])
    }
  },
  {
    name: 'npm create twinroute without --: refused, with the line to write',
    run: ({ scratch, env }) => {
      const cwd = mkdtempSync(join(scratch, 'npm-'))
      for (const args of [['--template=api'], ['--template', 'api']]) {
        const { status, stderr } = npmCreate(['shop', ...args], { cwd, env })
        const line = '  npm create twinroute@latest shop -- --template ...'
        assert.ok(stderr.includes(`npm keeps --template for itself: write -- before it\n${line}\n`), stderr)
        assert.deepEqual([status, readdirSync(cwd)], [2, []])
      }
    }
  },
  {
    name: 'the next commands can be typed as they are printed, whatever the folder is called',
    run({ command, scratch, env }) {
      for (const folder of [
        'app',
        'my app',
        "it's",
        '~',
        '$HOME',
        '"quoted" `id`',
        "both ' and $(id)",
        'sub/my app',
        String.raw`a\b`
      ]) {
        const cwd = mkdtempSync(join(scratch, 'typed-'))
        const { stdout } = spawnSync(command, [folder, '--name', 'app'], { cwd, env, encoding: 'utf8' })
        const [line = ''] = /^ {2}cd .*$/m.exec(stdout) ?? []
        const typed = spawnSync('sh', ['-c', `${line} && pwd`], { cwd, env, encoding: 'utf8' })
        assert.deepEqual([typed.stderr, typed.stdout], ['', `${join(cwd, folder)}\n`], line)
      }
    }
  },
  {
    name: 'what comes into the folder while a question is open stays, and nothing is made',
    async run({ command, scratch, env }) {
      const cwd = mkdtempSync(join(scratch, 'asked-'))
      mkdirSync(join(cwd, 'app'))
      const typed = `stty cols 100 rows 30; exec '${command}' app` // a terminal, which is as wide as none otherwise
      const child = spawn('script', ['--quiet', '--return', '--command', typed, '/dev/null'], {
        cwd,
        env,
        timeout: 60_000
      })
      let text = ''
      const asked = new Promise<void>((resolve) => {
        child.stdout.on('data', (more) => /From which template/.test((text += more)) && resolve())
      })
      const closed = once(child, 'close')
      await Promise.race([asked, closed])
      mkdirSync(join(cwd, 'app/src'))
      writeFileSync(join(cwd, 'app/src/work.txt'), 'a day of work')
      child.stdin.write('\r')
      const [code] = await closed
      assert.match(text, /app is not empty \(it holds src\): name a new folder/)
      assert.deepEqual([code, readdirSync(join(cwd, 'app'), { recursive: true })], [2, ['src', 'src/work.txt']])
    }
  },
  {
    name: 'a signal while the files are written leaves all of them, or none',
    async run({ command, scratch, env }) {
      const made = madeIn({ command, scratch, env }, ['app', '--template', 'api'])
      const whole = readdirSync(join(made, 'app'), { recursive: true })
      const cwd = mkdtempSync(join(scratch, 'signal-'))
      for (let attempt = 0; attempt < SIGNALS; attempt++) {
        const folder = join(cwd, `app${attempt}`)
        const child = spawn(command, [`app${attempt}`, '--template', 'api'], { cwd, env, stdio: 'ignore' })
        const closed = once(child, 'close')
        const limit = performance.now() + 60_000
        while (!existsSync(folder) && performance.now() < limit); // without a turn: the files are written in a few milliseconds
        child.kill('SIGINT')
        const [code] = await closed
        if (!existsSync(folder)) assert.equal(code, 130)
        else assert.deepEqual([nameIn(folder), readdirSync(folder, { recursive: true })], [`app${attempt}`, whole])
      }
    }
  }
]
const SIGNALS = 5

/** Without the rows that need another file system where none can be mounted, which is said. */
export function createRows(): readonly CreateRow[] {
  const reason = cannotMount()
  const refused = REFUSED.flatMap((one): CreateRow[] => {
    const name = `refused: ${one.args.join(' ').slice(0, 40)}${one.disk === undefined ? '' : `, on ${one.disk}`}`
    if (one.disk === undefined || reason === undefined) return [{ name, run: (creator) => refuses(creator, one) }]
    process.stdout.write(`left out: ${name} (${reason})\n`)
    return []
  })
  return [...refused, ...MADE]
}
