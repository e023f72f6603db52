import cookieParser from 'cookie-parser'
import type { IRouter, Request, RequestHandler, Response } from 'express'
import session from 'express-session'
import { orderSchema, receiptOf } from '../orders.js'
import { ITEMS, openStream, pageDirectory, SESSION_SECRET } from '../payloads.js'

/** What both Express and twinroute/express have. */
export interface Toolkit {
  json: () => RequestHandler
  static: (root: string) => RequestHandler
}

/** Works with routes and middleware of their own. */
export const EXPRESS_WORKS: Readonly<Record<string, (app: IRouter, express: Toolkit) => void>> = {
  list: (app) => app.get('/api/items', (_request, response) => void response.json(ITEMS)),
  stream: (app) => app.get('/api/stream', (_request, response) => void openStream().pipe(response)),
  static: (app, express) => app.use('/files', express.static(pageDirectory())),
  session: (app) => {
    app.use(cookieParser(), session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false }))
    app.get('/api/login', (request, response) => {
      Reflect.set(request.session, 'user', 'Ada')
      response.json({ ok: true })
    })
    app.get('/api/session', (request, response) => {
      response.json({ user: Reflect.get(request.session, 'user'), cookie: request.cookies.cookie7 })
    })
  },
  validated: (app, express) => app.post('/api/orders', express.json(), takeOrder)
}

function takeOrder(request: Request, response: Response): void {
  const { data, error } = orderSchema.safeParse(request.body)
  if (error) response.status(400).json({ error: 'VALIDATION_ERROR', details: error.issues })
  else response.json(receiptOf(data))
}
