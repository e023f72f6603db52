import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createApp, type App } from 'twinroute'
import twinrouteExpress from 'twinroute/express'
import type { AnyScenario, HandlerScenario, RouterScenario, Target } from '../differential/scenario.js'
import { addressOf, callByInject, callOver, writeRoutes, type Call } from './hosts.js'

interface Test {
  teardown(end: () => unknown): void
}

/** Sends a request of a scenario's to one of the targets. */
export type Send = Call

/** A scenario with the path its handler stands at. */
export interface Placed<Kind extends AnyScenario = AnyScenario> {
  scenario: Kind
  at: string
}

type Start = (t: Test, placed: Placed) => Promise<Call>

/** How a scenario is started on each target; targets that cannot express it are left out. */
export async function startersFor(t: Test, handlers: readonly Placed<HandlerScenario>[]) {
  const routed = await appOfRoutes(t, handlers)
  const overSocket = callOver(await addressOf(routed))
  const injected = callByInject(routed)
  const everywhere: Partial<Record<Target, Start>> = {
    'Express 5': (t, placed) => serveExpress(t, build(express(), placed)),
    'twinroute/express': (t, placed) => serveTwinroute(t, build(twinrouteExpress(), placed)),
    'twinroute/express, injected': async (t, placed) => injectInto(t, build(twinrouteExpress(), placed))
  }
  const asRouter: typeof everywhere = {
    'createApp, use()': async (t, placed) => callOver(await addressOf(await appWith(t, placed))),
    'createApp, use(), injected': async (t, placed) => callByInject(await appWith(t, placed))
  }
  const asRoute: typeof everywhere = {
    'createApp, route file': async () => overSocket,
    'createApp, route file, injected': async () => injected
  }
  return (scenario: AnyScenario): Partial<Record<Target, Start>> => {
    if ('app' in scenario) return everywhere
    return 'handle' in scenario ? { ...everywhere, ...asRouter, ...asRoute } : { ...everywhere, ...asRouter }
  }
}

type AnyApp = ReturnType<typeof express>

/** Handlers and routers end alike everywhere; whole applications end as Express does. */
function build<Kind extends AnyApp>(app: Kind, { scenario, at }: Placed): Kind {
  if ('app' in scenario)
    scenario.app(app, (app instanceof Function && 'fastify' in app ? twinrouteExpress : express) as typeof express)
  else addTo(app, scenario, at)
  return app
}

function addTo(app: any, scenario: HandlerScenario | RouterScenario, at: string): void {
  if ('routes' in scenario) scenario.routes(app, express)
  else app.all(at.replaceAll(/\[(\w+)\]/g, ':$1'), ...(scenario.before?.(express) ?? []), scenario.handle)
  app.use((_req: any, res: any) => res.status(404).send('the end of the stack'))
  app.use((error: any, _req: any, res: any, _next: any) =>
    res.status(error.status ?? 500).send(`failed: ${error.message}`)
  )
}

async function serveExpress(t: Test, app: AnyApp): Promise<Call> {
  return callOver(await listen(t, createServer(app)))
}

async function serveTwinroute(t: Test, app: ReturnType<typeof twinrouteExpress>): Promise<Call> {
  t.teardown(() => app.fastify.close())
  return callOver(await listen(t, createServer(app.serverOptions, app)))
}

function injectInto(t: Test, app: ReturnType<typeof twinrouteExpress>): Call {
  t.teardown(() => app.fastify.close())
  return callByInject(app.fastify)
}

async function listen(t: Test, server: Server): Promise<string> {
  t.teardown(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A createApp application without route files of its own, the scenario in its stack. */
async function appWith(t: Test, { scenario, at }: Placed): Promise<App> {
  const app = await createApp({ mode: 'test', apiDir: writeRoutes(t as never, { unused: { GET() {} } }) })
  t.teardown(() => app.close())
  const routes = express.Router()
  addTo(routes, scenario as HandlerScenario | RouterScenario, at)
  app.use(routes)
  return app
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** One application with a route file for every handler. */
async function appOfRoutes(t: Test, handlers: readonly Placed<HandlerScenario>[]): Promise<App> {
  const routes = Object.fromEntries(
    handlers.map(({ scenario, at }) => {
      const methods = Object.fromEntries(
        METHODS.map((method) => [method, (req: any, res: any, next: any) => scenario.handle(req, res, next)])
      )
      return [at.slice(1), { ...methods, middleware: scenario.before?.(express) ?? [] }]
    })
  )
  const app = await createApp({ mode: 'test', baseRoute: '/', apiDir: writeRoutes(t as never, routes) })
  t.teardown(() => app.close())
  return app
}
