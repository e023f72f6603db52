import { createServer } from 'node:http'
import express from 'express'
import { listen } from '../listening.js'
import { addRoutes } from './express-routes.js'

export async function start(): Promise<number> {
  const app = express()
  addRoutes(app, express)
  return listen(createServer(app))
}
