import { defineHandler, type Request } from 'twinroute'
import { z } from 'zod'
import { refusal } from '../../../answers.js'
import { type Credentials, readCredentials } from '../../../auth/credentials.js'
import { flatFailure } from '../../../auth/flat-failure.js'
import { describedBy } from '../../../described.js'
import { userRecord } from '../../../users/user.js'

const loggedIn = z.object({
  message: z.string(),
  token: z.string(),
  user: userRecord.pick({ id: true, email: true, name: true, role: true })
})

export const POST = defineHandler(
  {
    body: describedBy(z.object({ email: z.string(), password: z.string() })),
    response: { 200: loggedIn, 400: refusal, 401: refusal, 500: refusal, 503: refusal },
    summary: 'Log in: get an access token',
    tags: ['accounts']
  },
  async (request) => {
    const credentials = readCredentials(request.body)
    if (credentials === undefined) {
      return { status: 400, body: { error: 'MISSING_CREDENTIALS', message: 'Email and password are required' } }
    }
    try {
      const body = await logIn(request, credentials)
      if (body !== undefined) return { status: 200, body }
      return { status: 401, body: { error: 'INVALID_CREDENTIALS', message: 'Invalid email or password' } }
    } catch (error) {
      return flatFailure(request, error, 'LOGIN_FAILED')
    }
  }
)

async function logIn({ services }: Request, credentials: Credentials): Promise<z.input<typeof loggedIn> | undefined> {
  const { accounts, tokens } = services
  const user = await accounts.authenticate(credentials)
  if (user === undefined) return undefined
  const { id, email, name, role } = user
  const token = tokens.generateAccessToken({ userId: id, role }, { lifetime: tokens.loginLifetime })
  return { message: 'Login successful', token, user: { id, email, name, role } }
}
