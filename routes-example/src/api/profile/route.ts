import type { Request } from 'twinroute'

export function GET(request: Request) {
  return { message: 'Your profile', user: request.user, timestamp: new Date().toISOString() }
}
