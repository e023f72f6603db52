import { createServer } from 'node:http'
import express from 'express'
import { listen } from '../listening.js'
import { addRoutes } from './express-routes.js'

export async function start(work: string): Promise<number> {
  const app = express()
  addRoutes(app, express, work)
  return listen(createServer(app))
}
