import { readFile } from 'node:fs/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { packAsset, sendAsset as send, versionOf, type PackedAsset } from '../../answer/packed-asset.js'
import { noncesOf, type Nonces } from '../../link/csp-nonce.js'

/** Files of the query tool with their types. The build leaves them compressed. */
const TYPES = {
  'playground.js': 'text/javascript; charset=utf-8',
  'playground.css': 'text/css; charset=utf-8',
  'playground.svg': 'image/svg+xml'
} as const

export type AssetName = keyof typeof TYPES

export const assetNames: readonly AssetName[] = ['playground.js', 'playground.css', 'playground.svg']

const folder = new URL('../../playground/', import.meta.url)
const loaded = new Map<AssetName, Promise<PackedAsset>>()

/** Reads an asset once in the life of the process, on its first request. */
function loadAsset(name: AssetName): Promise<PackedAsset> {
  const before = loaded.get(name)
  if (before !== undefined) return before
  const asset = readFile(new URL(`${name}.gz`, folder)).then((gzipped) => packAsset(gzipped, TYPES[name]))
  loaded.set(name, asset)
  asset.catch(() => loaded.delete(name))
  return asset
}

/** Serves one asset. */
export async function sendAsset(name: AssetName, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return send(await loadAsset(name), request, reply)
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
    const page = render({
      folder,
      script: versionOf(script),
      style: versionOf(style),
      nonces: noncesOf(request, reply)
    })
    return reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(page)
  }
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
    <link rel="stylesheet" href="${folder}playground.css?v=${style}"${nonces.style}>
    <script src="${folder}playground.js?v=${script}"${nonces.script} defer></script>
  </head>
  <body>
    <div id="playground">Loading the playground. It needs JavaScript.</div>
  </body>
</html>
`
}
