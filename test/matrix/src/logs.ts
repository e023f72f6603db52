import { equal, match, ok } from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { Writable } from 'node:stream'
import * as Sentry from '@sentry/node'
import rTracer from 'cls-rtracer'
import timeout from 'connect-timeout'
import errorHandler from 'errorhandler'
import express from 'express'
import asyncHandler from 'express-async-handler'
import httpContext from 'express-http-context'
import prometheus from 'express-prom-bundle'
import { express as userAgent } from 'express-useragent'
import expressWinston from 'express-winston'
import i18next from 'i18next'
import i18nextHttp from 'i18next-http-middleware'
import morgan from 'morgan'
import { pinoHttp } from 'pino-http'
import promClient from 'prom-client'
import responseTime from 'response-time'
import winston from 'winston'
import type { Case, Env } from './harness.js'

/** Lines as they are written. */
function logBook() {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      stream.emit('line')
      done()
    }
  })
  const next = async () => {
    if (lines.length === 0) await once(stream, 'line')
    return lines.shift() as string
  }
  return { stream, next }
}

const cases: Case[] = [
  {
    name: 'morgan',
    job: 'logs status, length and the whole url',
    setup: async () => logBook(),
    middleware: ({ stream }) => [morgan(':method :url :status :res[content-length] :remote-addr', { stream })],
    handler: (request, response) =>
      request.path.endsWith('/returned') ? { a: 1 } : response.status(201).json({ a: 1 }),
    async check(call, { next }) {
      await call('GET /api/x?a=1')
      match(await next(), /^GET \/api\/x\?a=1 201 7 (::ffff:)?127\.0\.0\.1/)
      await call('GET /api/returned')
      match(await next(), /^GET \/api\/returned 200 7 /)
    }
  },
  {
    name: 'pino-http',
    job: 'gives the request an id and a logger, logs the end',
    setup: async () => logBook(),
    middleware: ({ stream }) => [pinoHttp({ genReqId: () => 'mine' }, stream)],
    handler: (request) => ({ id: request.id, logs: typeof request.log.info }),
    async check(call, { next }) {
      const { json } = await call('GET /api/x')
      equal(json.id, 'mine')
      equal(json.logs, 'function')
      const line = JSON.parse(await next())
      equal(line.req.id, 'mine')
      equal(line.res.statusCode, 200)
    }
  },
  {
    name: 'express-winston',
    job: 'logs method, url and status',
    setup: async () => logBook(),
    middleware: ({ stream }) => [
      expressWinston.logger({ transports: [new winston.transports.Stream({ stream })], format: winston.format.json() })
    ],
    handler: (_request, response) => response.status(202).json({}),
    async check(call, { next }) {
      await call('GET /api/x')
      const line = JSON.parse(await next())
      equal(line.meta.res.statusCode, 202)
      match(line.message, /GET \/api\/x/)
    }
  },
  {
    name: 'response-time',
    job: 'sets its header on what is sent and returned',
    middleware: () => [responseTime()],
    handler: (request, response) => (request.path.endsWith('/returned') ? {} : response.end('a')),
    async check(call) {
      match((await call('GET /api/x')).headers['x-response-time'], /ms$/)
      match((await call('GET /api/returned')).headers['x-response-time'], /ms$/)
    }
  },
  {
    name: 'express-prom-bundle',
    job: 'counts by method, status and path',
    middleware: () => [
      prometheus({
        includeMethod: true,
        includePath: true,
        promRegistry: new promClient.Registry(),
        metricsPath: '/api/metrics'
      })
    ],
    async check(call) {
      await call('GET /api/x')
      const { text } = await call('GET /api/metrics')
      match(text, /http_request_duration_seconds_count\{[^}]*method="GET"/)
      match(text, /path="\/api\/x"/)
    }
  },
  {
    name: 'errorhandler',
    job: 'shows errors as the client accepts them',
    places: ['use', 'twinroute/express'],
    middleware: () => [
      (request: any, _response: any, next: any) =>
        next(request.path === '/broken' ? Object.assign(new Error('broken'), { status: 418 }) : undefined),
      errorHandler({ log: false })
    ],
    async check(call) {
      const { status, json } = await call('GET /api/broken', { headers: { accept: 'application/json' } })
      equal(status, 418)
      equal(json.error.message, 'broken')
    }
  },
  {
    name: '@sentry/node',
    job: 'captures an error and passes it on',
    places: ['use', 'twinroute/express'],
    async setup() {
      const events: any[] = []
      Sentry.init({
        dsn: 'http://key@127.0.0.1/1',
        defaultIntegrations: false,
        beforeSend(event) {
          events.push(event)
          return null
        }
      })
      return { events, close: () => Sentry.close() }
    },
    middleware: () => [
      (request: any, _response: any, next: any) => next(request.path === '/broken' ? new Error('broken') : undefined),
      Sentry.expressErrorHandler()
    ],
    async check(call, { events }) {
      equal((await call('GET /api/broken')).status, 500)
      await Sentry.flush(1000)
      equal(events[0].exception.values[0].value, 'broken')
    }
  },
  {
    name: 'connect-timeout',
    job: 'answers 503; a late response is dropped',
    middleware: () => [timeout('20ms')],
    handler: async (request, response) => {
      if (!request.path.endsWith('/slow')) return { fine: true }
      await once(request, 'timeout')
      await new Promise((resolve) => setImmediate(resolve))
      return response.json({ late: true })
    },
    async check(call) {
      equal((await call('GET /api/slow')).status, 503)
      equal((await call('GET /api/x')).json.fine, true)
    }
  },
  {
    name: 'express-http-context',
    job: 'keeps values over asynchronous steps and the body’s arrival',
    middleware: () => [
      httpContext.middleware,
      (request: any, _response: any, next: any) => {
        httpContext.set('path', request.path)
        next()
      },
      express.json()
    ],
    async handler(request) {
      await new Promise((resolve) => setImmediate(resolve))
      return { path: httpContext.get('path'), body: request.body }
    },
    async check(call) {
      const { json } = await call('POST /api/x', { body: { a: 1 } })
      equal(json.path, '/x')
      equal(json.body.a, 1)
    }
  },
  {
    name: 'cls-rtracer',
    job: 'gives every request an id that the handler sees',
    middleware: () => [rTracer.expressMiddleware({ echoHeader: true })],
    handler: async (request, response) => {
      await new Promise((resolve) => setImmediate(resolve))
      return response.json({ id: rTracer.id(), body: request.body })
    },
    async check(call) {
      const { json, headers } = await call('POST /api/x', { body: { a: 1 } })
      ok(json.id)
      equal(headers['x-request-id'], json.id)
    }
  },
  {
    name: 'AsyncLocalStorage',
    version: () => '',
    job: 'reaches the handler, body parsed or not',
    async setup() {
      return { storage: new AsyncLocalStorage() }
    },
    middleware(env) {
      shared.storage = env.storage
      return [(request: any, _response: any, next: any) => env.storage.run(request.path, next)]
    },
    handler: async () => ({ stored: shared.storage.getStore() }),
    async check(call) {
      equal((await call('GET /api/a')).json.stored, '/a')
      equal((await call('POST /api/b', { body: { a: 1 } })).json.stored, '/b')
    }
  },
  {
    name: 'express-useragent',
    job: 'describes the browser',
    middleware: () => [userAgent()],
    handler: (request) => ({ browser: request.useragent.browser }),
    async check(call) {
      const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
      equal((await call('GET /api/x', { headers: { 'user-agent': agent } })).json.browser, 'Firefox')
    }
  },
  {
    name: 'i18next-http-middleware',
    job: 'finds the language and translates',
    async setup() {
      const instance = i18next.createInstance()
      await instance.use(i18nextHttp.LanguageDetector).init({
        preload: ['en', 'de'],
        fallbackLng: 'en',
        resources: { en: { translation: { hi: 'hello' } }, de: { translation: { hi: 'hallo' } } },
        showSupportNotice: false
      })
      return { instance }
    },
    middleware: ({ instance }) => [i18nextHttp.handle(instance)],
    handler: (request) => ({ hi: request.t('hi') }),
    async check(call) {
      equal((await call('GET /api/x', { headers: { 'accept-language': 'de' } })).json.hi, 'hallo')
      equal((await call('GET /api/x?lng=en', { headers: { 'accept-language': 'de' } })).json.hi, 'hello')
    }
  },
  {
    name: 'express-async-handler',
    job: 'hands rejections to the error handling',
    middleware: () => [
      asyncHandler(async (request: any, _response: any, next: any) => {
        await null
        if (request.path === '/broken') throw Object.assign(new Error('broken'), { status: 409, statusCode: 409 })
        next()
      })
    ],
    async check(call) {
      equal((await call('GET /api/broken')).status, 409)
      equal((await call('GET /api/x')).json.ok, true)
    }
  }
]

export default cases

const shared: Env = {}
