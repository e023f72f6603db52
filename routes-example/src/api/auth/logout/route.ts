import type { Request } from 'twinroute'
import { bearerUser } from '../../../auth/bearer-user.js'

/** The prefix is public, so the token is looked at here: without a valid one there is nothing to revoke. */
export async function POST(request: Request) {
  const user = bearerUser(request)
  if (user !== undefined) await request.services.tokens.revoke(user.userId)
  return { message: 'Logged out' }
}
