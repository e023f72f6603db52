import { randomBytes } from 'node:crypto'
import helmet from 'helmet'
import type { Middleware } from 'twinroute'

const NONCE_BYTES = 16

/** Gives each answer a nonce, for the scripts of its page. */
export const cspNonce: Middleware = (request, _response, next) => {
  request.cspNonce = randomBytes(NONCE_BYTES).toString('base64')
  next()
}

/** Security headers on every answer. Scripts run when they carry the nonce; runs after {@link cspNonce}. */
export function securityHeaders(mode: string): Middleware {
  return helmet({
    contentSecurityPolicy: {
      directives: {
        scriptSrc: ["'self'", (request) => `'nonce-${(request as { cspNonce?: string }).cspNonce}'`],
        // The query tool at /graphql styles itself.
        styleSrc: ["'self'", "'unsafe-inline'"],
        // Production stands behind https; http://localhost has none to go to.
        upgradeInsecureRequests: mode === 'production' ? [] : null
      }
    }
  })
}
