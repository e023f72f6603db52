import type { Request } from 'twinroute'
import { envelope } from 'twinroute/http'

export async function GET(request: Request) {
  return envelope(await request.services.categories.list(), { request })
}
