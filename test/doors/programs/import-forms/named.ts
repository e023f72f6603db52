import {
  Router,
  json,
  static as files,
  response,
  application,
  express,
  type Request,
  type RequestHandler,
  type TwinrouteExpress,
  type ErrorRequestHandler
} from 'twinroute/express'
const app: TwinrouteExpress = express()
app.use(json(), files('x'), Router())
const handler: RequestHandler = (request: Request, _response, next) => {
  request.ip
  next()
}
const failed: ErrorRequestHandler = (_error, _request, _response, next) => next()
app.use(handler, failed)
response.json.name
application.use.name
