import { defineHandler } from 'twinroute'
import { z } from 'zod'
import { timestamp } from '../../answers.js'

const health = z.object({ status: z.enum(['healthy', 'unhealthy']), timestamp })

/** Whether this instance serves, and goes on serving. Asks nobody, so it answers at once even when the database hangs. */
export const GET = defineHandler(
  { response: { 200: health, 503: health }, summary: 'Whether this instance serves', tags: ['service'] },
  (request) => {
    const timestamp = new Date().toISOString()
    if (request.services.database.ready && !request.app.locals.isClosing) return { status: 'healthy', timestamp }
    return { status: 503, headers: { 'Retry-After': '1' }, body: { status: 'unhealthy', timestamp } }
  }
)
