import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { asEntities } from '../../answer/html-text.js'
import { packAsset, versionOf, type PackedAsset } from '../../answer/packed-asset.js'
import { currentDevelopment } from '../../discovery/development.js'
import { noncesOf, type Nonces } from '../../link/csp-nonce.js'
import type { OpenapiOptions } from '../openapi-options.js'
import { START_SOURCE } from './start-script.js'

const JAVASCRIPT = 'text/javascript; charset=utf-8'

export const START_SCRIPT: PackedAsset = packAsset(gzipSync(START_SOURCE), JAVASCRIPT)

const loaded = new Map<string, Promise<PackedAsset>>()

/** Reads and compresses the script of the page once in the life of the process, on its first request. */
export function loadPageScript(file: string): Promise<PackedAsset> {
  const before = loaded.get(file)
  if (before !== undefined) return before
  const asset = readFile(file)
    .then((bytes) => promisify(gzip)(bytes))
    .then((gzipped) => packAsset(gzipped, JAVASCRIPT))
  loaded.set(file, asset)
  asset.catch(() => loaded.delete(file))
  return asset
}

export interface PageOptions {
  readonly path: string
  readonly pageScript: string
  readonly options: OpenapiOptions
  readonly readText: () => string
}

/**
 * The page. Everything it loads comes from below its own path, by relative addresses, so that it works behind any prefix or
 * proxy. A policy and a nonce that security middleware has made stay as they are; where there is neither, the page brings its
 * own, under which a browser loads nothing from elsewhere.
 */
export function createPageHandler(page: PageOptions) {
  const name = page.path.slice(page.path.lastIndexOf('/') + 1)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const script = versionOf(await loadPageScript(page.pageScript))
    const folder = request.url.split('?', 1)[0]?.endsWith('/') ? '' : `${name}/`
    const nonces = ownPolicy(reply, noncesOf(request, reply), page.options)
    const html = render({ folder, script, nonces, page })
    return reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(html)
  }
}

const POLICY = 'content-security-policy'
const NONCE_BYTES = 16

function ownPolicy(reply: FastifyReply, given: Nonces, { servers = [] }: OpenapiOptions): Nonces {
  if (given.script !== '' || reply.hasHeader(POLICY) || reply.raw.hasHeader(POLICY)) return given
  const nonce = randomBytes(NONCE_BYTES).toString('base64')
  const origins = servers.flatMap(({ url }) => (URL.canParse(url) ? new URL(url).origin : []))
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    ['connect-src', "'self'", ...new Set(origins)].join(' '),
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'"
  ]
  reply.header(POLICY, policy.join('; '))
  return { script: ` nonce="${nonce}"`, style: ` nonce="${nonce}"` }
}

interface PageParts {
  readonly folder: string
  /** The version of the script. */
  readonly script: string
  readonly nonces: Nonces
  readonly page: PageOptions
}

function render({ folder, script, nonces, page }: PageParts): string {
  const settings = JSON.stringify(settingsOf(folder, page))
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${asEntities(page.options.info?.title ?? 'API')}</title>
    <link rel="icon" href="data:,">
    <style${nonces.style}>body { margin: 0 }</style>
    <script src="${folder}assets/start.js?v=${versionOf(START_SCRIPT)}"${nonces.script}></script>
  </head>
  <body>
    <noscript>This page needs JavaScript. The document is <a href="${folder}openapi.json">openapi.json</a>.</noscript>
    <script id="api-reference" type="application/json" data-configuration="${asEntities(settings)}"></script>
    <script src="${folder}assets/scalar.js?v=${script}"${nonces.script}></script>${reloadScript(nonces)}
  </body>
</html>
`
}

/** Under `twinroute dev` the page loads itself again after a change. */
function reloadScript({ script }: Nonces): string {
  const development = currentDevelopment()
  return development === undefined ? '' : `\n    <script src="${development.reloadScript}"${script}></script>`
}

/** Settings of Scalar (https://scalar.com/products/api-references/configuration) that keep it to this server. */
function settingsOf(folder: string, { readText }: PageOptions): object {
  const { components } = JSON.parse(readText()) as { components: { securitySchemes?: object } }
  const [scheme] = Object.keys(components.securitySchemes ?? {})
  return {
    url: `${folder}openapi.json`,
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    ...(scheme !== undefined && { authentication: { preferredSecurityScheme: scheme } })
  }
}
