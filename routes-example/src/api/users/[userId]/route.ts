import { defineHandler, type Request } from 'twinroute'
import { validate, type ValidatedRequest } from 'twinroute/http'
import { z } from 'zod'
import { told } from '../../../answers.js'
import { describedBy } from '../../../described.js'
import { userRecord } from '../../../users/user.js'
import { readUserChanges } from '../../../users/user-changes.js'
import { replaceUser, updateUser } from '../../../users/user-rules.js'
import { bothVersions } from '../../../users/versions.js'

type Path = '/api/users/[userId]'

const NO_USER = 'No user has this id'

const validateUser = validate(replaceUser)

export const middleware = { PUT: [validateUser] }

export const GET = defineHandler(
  {
    response: bothVersions(z.object({ data: userRecord })),
    errors: { 404: NO_USER },
    summary: 'Read a user',
    tags: ['users']
  },
  async ({ services, params }: Request<Path>) => ({ data: await services.users.get(params.userId) })
)

export const PUT = defineHandler(
  {
    response: bothVersions(told(userRecord)),
    errors: { 404: NO_USER, 409: 'The e-mail is that of another user' },
    summary: 'Replace a user',
    tags: ['users']
  },
  async ({ services, params, validatedData }: ValidatedRequest<typeof validateUser, Path>) => {
    const user = await services.users.replace(params.userId, validatedData)
    return { data: user, message: 'User replaced' }
  }
)

export const PATCH = defineHandler(
  {
    body: describedBy(z.strictObject(updateUser.shape)),
    response: bothVersions(told(userRecord)),
    errors: { 404: NO_USER },
    summary: 'Change a user',
    tags: ['users']
  },
  async ({ services, params, body }: Request<Path>) => {
    const changes = readUserChanges(body)
    return { data: await services.users.update(params.userId, changes), message: 'User updated' }
  }
)

export const DELETE = defineHandler(
  { response: { 204: null }, errors: { 404: NO_USER }, summary: 'Remove a user with all posts', tags: ['users'] },
  async ({ services, params }: Request<Path>) => {
    await services.users.remove(params.userId)
    return { status: 204 }
  }
)
