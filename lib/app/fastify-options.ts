import { randomUUID } from 'node:crypto'
import type { FastifyServerOptions } from 'fastify'
import type { AppOptions } from '../contract/options.js'
import type { Compat } from '../express/classes.js'
import { kRequestId, type LinkedRequest } from '../link/state.js'
import type { Runtime } from '../dispatch/runtime.js'
import { clientErrorHandler } from './client-error.js'
import { FailureLog } from './failure-log.js'
import { frameworkErrorHandler, type Frame } from './error-handling.js'

const MEBIBYTE = 1024 * 1024

/** Longest value of a path parameter, in characters. */
const MAX_PARAM_LENGTH = 1024

/** Milliseconds until a request must have arrived whole; Fastify sets no limit. */
const REQUEST_TIMEOUT = 60_000

/** What the app's Fastify is made with: our classes and limits, under what the user gives. */
export function fastifyOptions(options: AppOptions, runtime: Runtime, frame: Frame): FastifyServerOptions {
  const { fastifyOptions: given = {}, trustProxy = false, bodyLimit = MEBIBYTE, handlerTimeout = 30_000 } = options
  return {
    logger: runtime.mode !== 'test',
    logController: new FailureLog(),
    genReqId: requestId,
    requestTimeout: REQUEST_TIMEOUT,
    return503OnClosing: false, // a request that was accepted is answered
    frameworkErrors: frameworkErrorHandler(runtime, frame, handlerTimeout),
    clientErrorHandler: clientErrorHandler(runtime, options),
    ...given,
    trustProxy,
    bodyLimit,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH, ...given.routerOptions },
    ...serverClasses(given as ServerChoice, runtime.compat)
  } as FastifyServerOptions
}

interface ServerChoice {
  http?: object | null
  https?: object | boolean | null
  http2?: boolean
}

function requestId(request: object): string {
  return (request as Partial<LinkedRequest>)[kRequestId] ?? randomUUID()
}

/** Our request and response classes, where the kind of server takes them. HTTP/2 streams are upgraded one by one. */
function serverClasses(given: ServerChoice, compat: Compat): object {
  const classes = { IncomingMessage: compat.IncomingMessage, ServerResponse: compat.ServerResponse }
  const https = given.https === true ? {} : given.https
  if (given.http2 === true) {
    if (!https) return {}
    const fallback = { Http1IncomingMessage: compat.IncomingMessage, Http1ServerResponse: compat.ServerResponse }
    return { https: { ...https, ...fallback } }
  }
  return https ? { https: { ...https, ...classes } } : { http: { ...given.http, ...classes } }
}
