import { createMiddleware } from 'twinroute'
import { apiVersion } from 'twinroute/http'
import { describeMiddleware } from 'twinroute/openapi'
import { z } from 'zod'
import { adminOnly, loginLimit, signedIn } from './auth/guards.js'
import { toVersion2 } from './users/version-2.js'

const version2 = describeMiddleware(apiVersion('v2', toVersion2), {
  request: { headers: z.object({ 'x-api-version': z.string().default('v1') }) }
})

/** What runs before the route files, by path prefix. Posts and comments guard themselves, method by method. */
export const middleware = createMiddleware({
  '/api/auth/': [],
  '/api/auth/login': [loginLimit],
  '/api/public/': [],
  '/api/health': [],
  '/api/profile': [signedIn],
  '/api/dashboard': [signedIn],
  '/api/uploads': [signedIn],
  '/api/admin/': [signedIn, adminOnly],
  '/api/users': [version2]
})
