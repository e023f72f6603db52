import { once } from 'node:events'
import { createServer } from 'node:http'
import express from 'twinroute/express'
import { listen, portOf } from '../listening.js'
import { addRoutes } from './express-routes.js'

export async function start(work: string): Promise<number> {
  const app = express()
  addRoutes(app, express, work)
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return portOf(server)
}

/** As programs start it that create their server themselves. */
export function withOwnServer(work: string): Promise<number> {
  const app = express()
  addRoutes(app, express, work)
  return listen(createServer(app))
}
