import type { Request } from 'twinroute'
import { readEmail } from '../../../../auth/credentials.js'

/** The answer is the same, and comes as soon, whether or not the account exists: the work follows it. */
export async function POST(request: Request) {
  const { email: address } = Object(await request.body) as { email?: unknown }
  const email = readEmail(address)
  const { accounts, background } = request.services
  if (email !== undefined) background.run(() => accounts.startReset(email))
  return { message: 'If the account exists, a reset link has been sent' }
}
