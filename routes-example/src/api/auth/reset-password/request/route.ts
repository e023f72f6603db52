import { defineHandler } from 'twinroute'
import { z } from 'zod'
import { readEmail } from '../../../../auth/credentials.js'
import { describedBy } from '../../../../described.js'

/** The answer is the same, and comes as soon, whether or not the account exists: the work follows it. */
export const POST = defineHandler(
  {
    body: describedBy(z.object({ email: z.string() })),
    response: z.object({ message: z.string() }),
    summary: 'Ask for a new password',
    tags: ['accounts']
  },
  ({ body, services }) => {
    const { email: address } = Object(body) as { email?: unknown }
    const email = readEmail(address)
    const { accounts, background } = services
    if (email !== undefined) background.run(() => accounts.startReset(email))
    return { message: 'If the account exists, a reset link has been sent' }
  }
)
