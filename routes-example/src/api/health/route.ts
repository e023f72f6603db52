import type { Request } from 'twinroute'

/** Whether this instance serves, and goes on serving. Asks nobody, so it answers at once even when the database hangs. */
export function GET(request: Request) {
  const timestamp = new Date().toISOString()
  if (request.services.database.ready && !request.app.locals.isClosing) return { status: 'healthy', timestamp }
  return { status: 503, headers: { 'Retry-After': '1' }, body: { status: 'unhealthy', timestamp } }
}
