import { ConflictError, type Request, type StatusObject } from 'twinroute'
import { readRegistration } from '../../../auth/credentials.js'
import { flatFailure } from '../../../auth/flat-failure.js'

export async function POST(request: Request) {
  try {
    return await register(request, await request.body)
  } catch (error) {
    if (error instanceof ConflictError) return { status: 409, body: { error: 'EMAIL_EXISTS', message: error.message } }
    return flatFailure(request, error, 'REGISTRATION_FAILED')
  }
}

async function register(request: Request, given: unknown): Promise<StatusObject> {
  const registration = readRegistration(given)
  const { id, email, name, role, createdAt } = await request.services.users.create({ ...registration, role: 'user' })
  return { status: 201, body: { message: 'Registration successful', user: { id, email, name, role, createdAt } } }
}
