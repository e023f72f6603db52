import type { Request } from 'twinroute'
import { pagination, paginationMeta, validate, type ValidatedRequest } from 'twinroute/http'
import { queryText } from '../../query.js'
import { createUser } from '../../users/user-rules.js'

const validateUser = validate(createUser)

export const middleware = { POST: [validateUser] }

export async function GET(request: Request) {
  const page = pagination(request.query)
  const { data, total } = await request.services.users.list({ ...page, search: queryText(request.query.search) })
  return { data, meta: { pagination: paginationMeta(page.page, page.limit, total) } }
}

export async function POST(request: ValidatedRequest<typeof validateUser>) {
  const user = await request.services.users.create(request.validatedData)
  return {
    status: 201,
    headers: { Location: `/api/users/${user.id}` },
    body: { data: user, message: 'User created' }
  }
}
