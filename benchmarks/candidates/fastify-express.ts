import fastifyExpress from '@fastify/express'
import express from 'express'
import fastify from 'fastify'
import { portOf } from '../listening.js'
import { addRoutes } from './express-routes.js'

export async function start(work: string): Promise<number> {
  const app = fastify()
  await app.register(fastifyExpress)
  const router = express.Router()
  addRoutes(router, express, work)
  app.use(router)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return portOf(app.server)
}
