import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isNotFound, notInstalled } from '../errors/missing-package.js'
import type { Swagger } from './document.js'

const SWAGGER = { name: '@fastify/swagger', version: '9' }
/** The line that runs on Node 20. */
const SCALAR = { name: '@scalar/fastify-api-reference', version: '1.40' }

/** What both parts of the entry need beside this package: as in `peerDependencies` of package.json. */
export interface OpenapiPeers {
  swagger: Swagger
  /** Absolute path of the script of the page; undefined where no page is served. */
  pageScript: string | undefined
}

/** @throws BootError that says what to install */
export async function loadPeers({ page }: { page: boolean }): Promise<OpenapiPeers> {
  const [swagger, pageScript] = [await importSwagger(), page ? findPageScript() : undefined]
  const missing = [...(swagger === undefined ? [SWAGGER] : []), ...(page && pageScript === undefined ? [SCALAR] : [])]
  if (swagger === undefined || missing.length > 0) throw notInstalled('openapi', missing)
  return { swagger, pageScript }
}

async function importSwagger(): Promise<Swagger | undefined> {
  try {
    const { default: plugin, formatParamUrl } = await import('@fastify/swagger')
    return { plugin, toTemplate: formatParamUrl }
  } catch (error) {
    if (isNotFound(error, SWAGGER.name)) return undefined
    throw error
  }
}

/** Only its file is used: its plugin writes scripts into the page, which content security policies refuse. */
function findPageScript(): string | undefined {
  try {
    return join(createRequire(import.meta.url).resolve(SCALAR.name), '../js/standalone.js')
  } catch (error) {
    if (isNotFound(error, SCALAR.name)) return undefined
    throw error
  }
}
