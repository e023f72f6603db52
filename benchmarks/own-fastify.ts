import { createRequire } from 'node:module'
import type * as fastify from 'fastify'

/** twinroute's copy, which is not that of this folder: a log controller has to be of the copy that gets it. */
export const ownFastify = createRequire(import.meta.resolve('twinroute'))('fastify') as typeof fastify
