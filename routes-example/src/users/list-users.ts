import type { Request } from 'twinroute'
import { pagination, paginationMeta } from 'twinroute/http'
import type { z } from 'zod'
import { pageQuery, queryText, text } from '../query.js'

export const usersQuery = pageQuery.extend({ search: text('Part of the name or the e-mail') })

/** A page of users, newest first, as version 1 answers it. */
export async function listUsers({ query, services }: Request<{ query: z.output<typeof usersQuery> }>) {
  const page = pagination(query)
  const { data, total } = await services.users.list({ ...page, search: queryText(query.search) })
  return { data, meta: { pagination: paginationMeta(page.page, page.limit, total) } }
}
