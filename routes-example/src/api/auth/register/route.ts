import { ConflictError, defineHandler, type Request } from 'twinroute'
import { z } from 'zod'
import { refusal } from '../../../answers.js'
import { readRegistration } from '../../../auth/credentials.js'
import { flatFailure } from '../../../auth/flat-failure.js'
import { describedBy } from '../../../described.js'
import { userRecord } from '../../../users/user.js'

const registration = z.object({
  email: z.string().max(320),
  password: z.string(),
  name: z.string().max(100).nullish()
})

const registered = z.object({
  message: z.string(),
  user: userRecord.pick({ id: true, email: true, name: true, role: true, createdAt: true })
})

export const POST = defineHandler(
  {
    body: describedBy(registration),
    response: { 201: registered, 400: refusal, 409: refusal, 500: refusal, 503: refusal },
    summary: 'Register',
    tags: ['accounts']
  },
  async (request) => {
    try {
      return { status: 201, body: { message: 'Registration successful', user: await register(request) } }
    } catch (error) {
      if (error instanceof ConflictError)
        return { status: 409, body: { error: 'EMAIL_EXISTS', message: error.message } }
      return flatFailure(request, error, 'REGISTRATION_FAILED')
    }
  }
)

function register({ services, body }: Request) {
  return services.users.create({ ...readRegistration(body), role: 'user' })
}
