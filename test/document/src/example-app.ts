import { createExample } from '../../../routes-example/dist/app.js'
import { readConfig } from '../../../routes-example/dist/config.js'
import type { Services } from '../../../routes-example/dist/services.js'

const SETTINGS = {
  NODE_ENV: 'test',
  PORT: '0',
  HOST: '127.0.0.1',
  JWT_SECRET: 'access-secret-of-the-document-check-0123456789',
  REFRESH_TOKEN_SECRET: 'refresh-secret-of-the-document-check-0123456789',
  DATABASE_URL: 'memory:',
  LOGIN_RATE_LIMIT: 'on',
  LOG_LEVEL: 'silent'
}

export interface RunningExample {
  /** `http://127.0.0.1:<port>` */
  readonly address: string
  readonly document: ApiDocument
  /** A token for a user with this id and role. */
  tokenOf(userId: string, role: string): string
  close(): Promise<void>
}

/** An OpenAPI document, as far as it is read here. */
export interface ApiDocument {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly schemas: Record<string, any> }
}

export interface Operation {
  readonly operationId: string
  readonly parameters?: unknown[]
  readonly responses: Record<string, any>
}

/** The example on a free port, with an embedded database, and the document as it serves it. */
export async function startExample(): Promise<RunningExample> {
  const app = await createExample(readConfig(SETTINGS))
  const address = await app.start()
  const answer = await fetch(`${address}/docs/openapi.json`)
  if (answer.status !== 200) throw new Error(`/docs/openapi.json answers ${answer.status}`)
  const { tokens }: Services = app.services
  return {
    address,
    document: (await answer.json()) as ApiDocument,
    tokenOf: (userId, role) => tokens.generateAccessToken({ userId, role }),
    close: () => app.close()
  }
}
