import { z } from 'zod'

/** What a token says of its user: `request.user` behind `signedIn`. */
export const tokenUser = z.object({ userId: z.string(), role: z.string() }).meta({ id: 'TokenUser' })
