// All names of the main entry and those beside it that need no optional package.
import Fastify from 'fastify'
import { createApp, fileRoutes, type AppOptions, type Request } from 'twinroute'
import { createTokenService } from 'twinroute/auth'
import { pagination } from 'twinroute/http'
import { observe } from 'twinroute/observe'

const options: AppOptions = { apiDir: 'api' }
export const GET = (request: Request): unknown => request.requestId
export const app = await createApp(options)
export const host = Fastify().register(fileRoutes, options)
export const names = [createTokenService, observe, pagination]
