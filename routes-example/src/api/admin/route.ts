import { defineHandler } from 'twinroute'
import { z } from 'zod'
import { timestamp } from '../../answers.js'
import { tokenUser } from '../../auth/token-user.js'

export const GET = defineHandler(
  {
    response: z.object({ message: z.string(), user: tokenUser, timestamp }),
    summary: 'Whether you may administer',
    tags: ['admin']
  },
  (request) => ({ message: 'Administration', user: request.user, timestamp: new Date().toISOString() })
)
