import { once } from 'node:events'
import express from 'twinroute/express'
import { portOf } from '../listening.js'
import { addRoutes } from './express-routes.js'

export async function start(): Promise<number> {
  const app = express()
  addRoutes(app, express)
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return portOf(server)
}
