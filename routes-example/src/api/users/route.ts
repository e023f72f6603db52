import { defineHandler } from 'twinroute'
import { validate, type ValidatedRequest } from 'twinroute/http'
import { z } from 'zod'
import { pagination, told } from '../../answers.js'
import { listUsers, usersQuery } from '../../users/list-users.js'
import { userRecord } from '../../users/user.js'
import { createUser } from '../../users/user-rules.js'
import { bothVersions } from '../../users/versions.js'

const validateUser = validate(createUser)

export const middleware = { POST: [validateUser] }

export const GET = defineHandler(
  {
    query: usersQuery,
    response: bothVersions(z.object({ data: z.array(userRecord), meta: z.object({ pagination }) })),
    summary: 'List users, the newest first',
    tags: ['users']
  },
  (request) => listUsers(request)
)

export const POST = defineHandler(
  {
    response: { 201: bothVersions(told(userRecord)) },
    errors: { 409: 'The e-mail is registered already' },
    summary: 'Create a user',
    tags: ['users']
  },
  async (request: ValidatedRequest<typeof validateUser>) => {
    const user = await request.services.users.create(request.validatedData)
    return {
      status: 201,
      headers: { Location: `/api/users/${user.id}` },
      body: { data: user, message: 'User created' }
    }
  }
)
