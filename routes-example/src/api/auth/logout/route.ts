import { defineHandler } from 'twinroute'
import { z } from 'zod'
import { bearerUser } from '../../../auth/bearer-user.js'

/** The prefix is public, so the token is looked at here: without a valid one there is nothing to revoke. */
export const POST = defineHandler(
  { response: z.object({ message: z.string() }), summary: 'Log out: revoke the refresh token', tags: ['accounts'] },
  async (request) => {
    const user = bearerUser(request)
    if (user !== undefined) await request.services.tokens.revoke(user.userId)
    return { message: 'Logged out' }
  }
)
