import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Files of the query tool with their types. The build leaves them compressed. */
const TYPES = {
  'playground.js': 'text/javascript; charset=utf-8',
  'playground.css': 'text/css; charset=utf-8',
  'playground.svg': 'image/svg+xml'
} as const

export type AssetName = keyof typeof TYPES

export const assetNames: readonly AssetName[] = ['playground.js', 'playground.css', 'playground.svg']

interface Asset {
  gzipped: Buffer
  etag: string
}

const folder = new URL('../../playground/', import.meta.url)
const loaded = new Map<AssetName, Promise<Asset>>()

/** Reads an asset once in the life of the process, on its first request. */
function loadAsset(name: AssetName): Promise<Asset> {
  const before = loaded.get(name)
  if (before !== undefined) return before
  const asset = readFile(new URL(`${name}.gz`, folder)).then((gzipped) => ({
    gzipped,
    etag: `"${createHash('sha256').update(gzipped).digest('base64url')}"`
  }))
  loaded.set(name, asset)
  asset.catch(() => loaded.delete(name))
  return asset
}

/** Serves one asset. Its address carries its hash, so browsers may keep it for good. */
export async function sendAsset(name: AssetName, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { gzipped, etag } = await loadAsset(name)
  reply
    .type(TYPES[name])
    .header('etag', etag)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('vary', 'accept-encoding')
    .header('x-content-type-options', 'nosniff')
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(await promisify(gunzip)(gzipped))
  return reply.header('content-encoding', 'gzip').send(gzipped)
}

/**
 * The page of the query tool. Everything it loads comes from below the endpoint, by relative addresses, so that it works
 * behind any prefix or proxy; there is no inline script, and a nonce that security middleware has made is passed on.
 */
export function createPageHandler(
  path: string
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return async (request, reply) => {
    const [script, style] = await Promise.all([loadAsset('playground.js'), loadAsset('playground.css')])
    const folder = request.url.split('?', 1)[0]?.endsWith('/') ? 'assets/' : `${name}/assets/`
    const page = render({ folder, script: script.etag, style: style.etag, nonces: noncesOf(request, reply) })
    return reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(page)
  }
}

interface Nonces {
  script: string
  style: string
}

interface PageParts {
  folder: string
  script: string
  style: string
  nonces: Nonces
}

function render({ folder, script, style, nonces }: PageParts): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>GraphQL playground</title>
    <link rel="icon" href="${folder}playground.svg">
    <link rel="stylesheet" href="${folder}playground.css?v=${version(style)}"${nonces.style}>
    <script src="${folder}playground.js?v=${version(script)}"${nonces.script} defer></script>
  </head>
  <body>
    <div id="playground">Loading the playground. It needs JavaScript.</div>
  </body>
</html>
`
}

function version(etag: string): string {
  return etag.slice(1, 13)
}

/** Nonces as they are found on Express requests, in Express locals, and on replies of @fastify/helmet. */
function noncesOf({ raw: request }: FastifyRequest, reply: FastifyReply): Nonces {
  const { locals } = reply.raw as { locals?: { cspNonce?: unknown } }
  const { cspNonce: pair } = reply as { cspNonce?: { script?: unknown; style?: unknown } }
  const shared = (request as { cspNonce?: unknown }).cspNonce ?? locals?.cspNonce
  return { script: attribute(shared ?? pair?.script), style: attribute(shared ?? pair?.style) }
}

function attribute(nonce: unknown): string {
  return typeof nonce === 'string' && /^[\w+/=-]+$/.test(nonce) ? ` nonce="${nonce}"` : ''
}
