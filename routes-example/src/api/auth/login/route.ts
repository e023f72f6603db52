import type { Request, StatusObject } from 'twinroute'
import { type Credentials, readCredentials } from '../../../auth/credentials.js'
import { flatFailure } from '../../../auth/flat-failure.js'

export async function POST(request: Request) {
  const credentials = readCredentials(await request.body)
  if (credentials === undefined) {
    return { status: 400, body: { error: 'MISSING_CREDENTIALS', message: 'Email and password are required' } }
  }
  try {
    return await logIn(request, credentials)
  } catch (error) {
    return flatFailure(request, error, 'LOGIN_FAILED')
  }
}

async function logIn(request: Request, credentials: Credentials): Promise<StatusObject> {
  const { accounts, tokens } = request.services
  const user = await accounts.authenticate(credentials)
  if (user === undefined) {
    return { status: 401, body: { error: 'INVALID_CREDENTIALS', message: 'Invalid email or password' } }
  }
  const { id, email, name, role } = user
  const token = tokens.generateAccessToken({ userId: id, role }, { lifetime: tokens.loginLifetime })
  return { status: 200, body: { message: 'Login successful', token, user: { id, email, name, role } } }
}
