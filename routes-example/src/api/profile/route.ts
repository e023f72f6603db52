import { defineHandler } from 'twinroute'
import { z } from 'zod'
import { timestamp } from '../../answers.js'
import { tokenUser } from '../../auth/token-user.js'

export const GET = defineHandler(
  {
    response: z.object({ message: z.string(), user: tokenUser, timestamp }),
    summary: 'Who you are',
    tags: ['accounts']
  },
  (request) => ({ message: 'Your profile', user: request.user, timestamp: new Date().toISOString() })
)
