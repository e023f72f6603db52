import type { Request } from 'twinroute'

export function GET(request: Request) {
  return { message: 'Administration', user: request.user, timestamp: new Date().toISOString() }
}
