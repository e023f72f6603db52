import { defineHandler } from 'twinroute'
import { z } from 'zod'
import { wrapped } from '../../../answers.js'
import { listUsers, usersQuery } from '../../../users/list-users.js'
import { userRecord } from '../../../users/user.js'
import { toVersion2 } from '../../../users/version-2.js'

export const GET = defineHandler(
  {
    query: usersQuery,
    response: wrapped(z.array(userRecord)),
    summary: 'List users, the newest first, in an envelope',
    tags: ['users']
  },
  async (request) => toVersion2(await listUsers(request), request)
)
