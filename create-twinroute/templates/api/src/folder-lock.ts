import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join, relative, resolve } from 'node:path'

/** Another process has the folder. */
export class FolderInUse extends Error {
  /** `twinroute dev` is about to end the other one, and has started this one in its place. */
  readonly isHandedOver: boolean

  constructor(folder: string, [pid, parent]: string[]) {
    super(
      `${folder} is in use by process ${pid}: two at a time would lose rows. End that one (kill ${pid}), or set DATABASE_URL ` +
        'to postgres://... for a server that all share, or to file:... for another folder'
    )
    this.isHandedOver = process.connected && Number(parent) === process.ppid && process.env.NODE_ENV !== 'production'
  }
}

const LOCK = '.lock-'
/** The system cuts off what is longer. */
const LONGEST_SOCKET = 100

/**
 * Keeps a second process off the folder of an embedded database, which has no lock of its own. The lock is a socket in the folder
 * with a name of its own: the system closes it with its process, however that ends, and then nobody answers there. Each makes its
 * own before it looks for others, so of two at the same time none overlooks the other.
 *
 * @returns gives the lock back
 * @throws FolderInUse naming the process that has it
 */
export async function lockFolder(folder: string): Promise<() => void> {
  await mkdir(folder, { recursive: true })
  const name = `${LOCK}${process.pid}-${process.ppid}-${randomBytes(3).toString('hex')}`
  const server = createServer((socket) => socket.destroy()).unref()
  try {
    server.listen({ path: socketPath(folder, name), exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    console.warn(`Nothing keeps a second process off ${folder}, where it would lose rows: ${(error as Error).message}`)
    return () => {}
  }
  try {
    for (const other of await readdir(folder)) {
      if (!other.startsWith(LOCK) || other === name) continue
      if (await answers(socketPath(folder, other))) throw new FolderInUse(folder, other.slice(LOCK.length).split('-'))
      await rm(join(folder, other), { force: true })
    }
  } catch (error) {
    server.close()
    throw error
  }
  return () => void server.close()
}

function socketPath(folder: string, name: string): string {
  const path = resolve(folder, name)
  const fromHere = relative('', path)
  const shorter = fromHere.length < path.length ? fromHere : path
  if (Buffer.byteLength(shorter) > LONGEST_SOCKET) throw new Error(`the path ${shorter} is too long for a socket`)
  return shorter
}

function answers(path: string): Promise<boolean> {
  return new Promise((tell) => {
    const socket = connect(path, () => tell(true))
    socket.on('error', ({ code }: NodeJS.ErrnoException) => tell(code !== 'ECONNREFUSED' && code !== 'ENOENT'))
    socket.on('connect', () => socket.destroy())
  })
}
