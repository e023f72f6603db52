import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Answer, ask, fileOf, isErrorShape } from './ask.js'
import { ExampleServer, tokens } from './example-server.js'
import { ms, type Row, until } from './row.js'
import { noTmpfs, smallDisk } from './small-disk.js'

const KIB = 1024
const token = tokens.generateAccessToken({ userId: 'u1', role: 'user' })

function expectRefusal({ status, body }: Answer, expected: readonly number[]): void {
  assert.ok(expected.includes(status), `${status} ${JSON.stringify(body)}`)
  assert.ok(isErrorShape(body), JSON.stringify(body))
}

/** Fills a disk to its last byte. @returns the file, which can be removed */
function fill(folder: string): string {
  const file = join(folder, 'filler')
  for (let size = 1024 * KIB; size >= 1;) {
    try {
      writeFileSync(file, Buffer.alloc(size), { flag: 'a' })
    } catch {
      size = Math.floor(size / 4)
    }
  }
  return file
}

/** A disk of 8 MiB, or no file of more than 4 MiB where nothing can be mounted. */
const LIMITS = noTmpfs() === undefined ? '' : 'ulimit -f 4096;'

export const DISK_ROWS: readonly Row[] = [
  {
    name: `the disk of uploads is full (${LIMITS === '' ? 'tmpfs of 8 MiB' : 'RLIMIT_FSIZE of 4 MiB'})`,
    async run({ scope, sizes }) {
      const env: Record<string, string> = LIMITS === '' ? { TMPDIR: await smallDisk(scope, '8m') } : {}
      const server = await ExampleServer.start(scope, { env, limits: LIMITS })
      const upload = (size: number) => ask(`${server.address}/api/uploads`, { body: fileOf(size), token })
      expectRefusal(await upload(9000 * KIB), [507])
      assert.deepEqual(server.uploads(), [], 'the part that was stored is gone')
      const together = await Promise.all(Array.from({ length: 6 }, () => upload(3000 * KIB)))
      const kept = together.filter(({ status }) => status === 200).length
      for (const answer of together.filter(({ status }) => status !== 200)) expectRefusal(answer, [507])
      const freed = await until('the files are gone', () => server.uploads().length === 0)
      assert.equal((await upload(2000 * KIB)).status, 200, 'the next one works')
      assert.ok(freed < 1000 * sizes.patience && server.isAlive)
      return `507 for what is too large, ${kept} of 6 at once kept and the others 507, room free after ${ms(freed)}`
    }
  },
  {
    name: 'the disk of the mail folder is full',
    missing: noTmpfs,
    async run({ scope }) {
      const disk = await smallDisk(scope, '1m')
      const MAIL_FOLDER = join(disk, 'mail')
      const server = await ExampleServer.start(scope, { env: { MAIL_FOLDER } })
      const account = { name: 'Reader', email: 'reader@example.test', password: 'Correct-Horse-1' }
      assert.equal((await ask(`${server.address}/api/users`, { body: account })).status, 201)
      const filler = fill(disk)
      const reset = () => ask(`${server.address}/api/auth/reset-password/request`, { body: { email: account.email } })
      assert.equal((await reset()).status, 200, 'nobody learns who has an account')
      await until('the log says so', () => server.printed.includes('ENOSPC'))
      rmSync(filler)
      assert.equal((await reset()).status, 200)
      assert.ok(server.isAlive)
      return 'the answer stays the same, the log says ENOSPC'
    }
  },
  {
    name: 'the disk of the embedded database is full',
    missing: noTmpfs,
    async run({ scope, sizes }) {
      const disk = await smallDisk(scope, '128m')
      const server = await ExampleServer.start(scope, { env: { DATABASE_URL: `file:${join(disk, 'database')}` } })
      const account = { name: 'Writer', email: 'writer@example.test', password: 'Correct-Horse-1' }
      let created: Answer | undefined
      await until('its database is open', async () => {
        created = await ask(`${server.address}/api/users`, { body: account })
        return created.status === 201
      })
      const posts = `${server.address}/api/users/${created?.body.data.id}/posts`
      const write = () => ask(posts, { body: { title: 'Kept', content: 'x'.repeat(8000) } })
      const accepted: string[] = []
      const keep = (answer: Answer) => answer.status === 201 && accepted.push(answer.body.data.id as string) > 0
      assert.ok(keep(await write()))
      const filler = fill(disk)
      let refusal: Answer | undefined
      await until('a write is refused', async () => {
        const answer = await write()
        if (!keep(answer)) refusal = answer
        return refusal !== undefined
      })
      if (refusal !== undefined) expectRefusal(refusal, [500, 503])
      rmSync(filler)
      const recovery = await until('writes are accepted again', async () => keep(await write()))
      for (const id of accepted) assert.equal((await ask(`${server.address}/api/posts/${id}`)).status, 200, id)
      assert.ok(recovery < 2000 * sizes.patience && server.isAlive, ms(recovery))
      return `${refusal?.status} meanwhile, ${accepted.length} accepted and 0 lost, recovered in ${ms(recovery)}`
    }
  }
]
