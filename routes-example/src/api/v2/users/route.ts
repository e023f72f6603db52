import type { Request } from 'twinroute'
import { GET as listUsers } from '../../users/route.js'
import { toVersion2 } from '../../../users/version-2.js'

export async function GET(request: Request) {
  return toVersion2(await listUsers(request), request)
}
