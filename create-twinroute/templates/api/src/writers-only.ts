import { timingSafeEqual } from 'node:crypto'
import type { Middleware } from 'twinroute'

/** Lets those through who send `Authorization: Bearer` and the environment variable API_TOKEN; without it nobody may write. */
export const writersOnly: Middleware = (request, response, next) => {
  const given = Buffer.from(request.get('authorization') ?? '')
  const token = process.env.API_TOKEN
  const wanted = Buffer.from(`Bearer ${token}`)
  if (token && given.length === wanted.length && timingSafeEqual(given, wanted)) return next()
  if (!token && process.env.NODE_ENV !== 'production')
    return response
      .status(401)
      .json({ message: 'The server has no API_TOKEN: start it with API_TOKEN=secret npm run dev' })
  return response.status(401).json({ message: 'Send the token: Authorization: Bearer ...' })
}
