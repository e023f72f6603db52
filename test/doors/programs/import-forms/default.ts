import express from 'twinroute/express'

const app = express()
app.use(express.json(), express.urlencoded({ extended: true }))
app.use('/files', express.static('files'))
const router: express.Router = express.Router()
router.get('/users/:id', (request, response) => {
  const id: string = request.params.id
  response.json({ id })
})
const handler: express.RequestHandler = (
  request: express.Request,
  response: express.Response,
  next: express.NextFunction
) => next()
app.use(router, handler)
app.fastify.inject('/').then((answer) => answer.statusCode)
app.listen(0).close()
// @ts-expect-error -- not a member of an application
app.nothing()

export {}
