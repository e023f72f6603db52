import type { Request } from 'twinroute'
import { validate, type ValidatedRequest } from 'twinroute/http'
import { readUserChanges } from '../../../users/user-changes.js'
import { replaceUser } from '../../../users/user-rules.js'

type Path = '/api/users/[userId]'

const validateUser = validate(replaceUser)

export const middleware = { PUT: [validateUser] }

export async function GET(request: Request<Path>) {
  return { data: await request.services.users.get(request.params.userId) }
}

export async function PUT(request: ValidatedRequest<typeof validateUser, Path>) {
  const user = await request.services.users.replace(request.params.userId, request.validatedData)
  return { data: user, message: 'User replaced' }
}

export async function PATCH(request: Request<Path>) {
  const changes = readUserChanges(await request.body)
  return { data: await request.services.users.update(request.params.userId, changes), message: 'User updated' }
}

export async function DELETE(request: Request<Path>) {
  await request.services.users.remove(request.params.userId)
  return { status: 204 }
}
