// The larger things that works ask for, made once per process.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const CHUNKS = 16
const CHUNK = Buffer.alloc(64 * 1024, 'twinroute')

export const STREAM_TEXT = CHUNK.toString().repeat(CHUNKS)

/** 1 MB from memory, 64 KB at a time. */
export function openStream(): Readable {
  let left = CHUNKS
  return new Readable({
    read() {
      this.push(left-- > 0 ? CHUNK : null)
    }
  })
}

/** Some 10 KB of HTML. */
export const PAGE_TEXT = `<!doctype html>\n<title>A page</title>\n${'<p>Lorem ipsum dolor sit amet.</p>\n'.repeat(300)}`

/** A directory with `page.html`. */
export function pageDirectory(): string {
  const directory = fileURLToPath(new URL('static', import.meta.url))
  const file = `${directory}/page.html`
  mkdirSync(directory, { recursive: true })
  if (!existsSync(file)) writeFileSync(file, PAGE_TEXT)
  return directory
}

/** The same for those that serialise by zod. */
export const itemsSchema = z.array(
  z.object({ id: z.int(), name: z.string(), price: z.number(), available: z.boolean(), tags: z.array(z.string()) })
)

export const ITEMS: z.infer<typeof itemsSchema> = Array.from({ length: 100 }, (_, id) => ({
  id,
  name: `Item ${id}`,
  price: id + 0.5,
  available: id % 3 !== 0,
  tags: ['new', `group-${id % 7}`]
}))

/** Fastify serialises by it, and twinroute with JSON Schema. */
export const ITEMS_SCHEMA = {
  type: 'array',
  items: {
    type: 'object',
    required: ['id', 'name', 'price', 'available', 'tags'],
    properties: {
      id: { type: 'integer' },
      name: { type: 'string' },
      price: { type: 'number' },
      available: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } }
    }
  }
}

/** Signs the cookie of sessions. */
export const SESSION_SECRET = 'a secret of the benchmark, 32 bytes and more'
