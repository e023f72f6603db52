// The factory that Express's own tests get (express-suite.ts). JavaScript, so that plain node loads it over dist/ without a
// build of the tests. The tests make their servers with http.createServer(app); here these get the app's request and
// response classes, as those of app.listen() do.
import http from 'node:http'
import { awaitBody } from '../../dist/body/await-body.js'
import { armTap } from '../../dist/body/tap.js'
import createExpressApp from '../../dist/express.js'

const MEBIBYTE = 1024 * 1024

const createServer = http.createServer
http.createServer = (...given) => {
  const app = given.find((argument) => argument?.serverOptions !== undefined)
  return app === undefined ? createServer(...given) : createServer(app.serverOptions, app)
}

/** With `bodyParser: 'early'` an application finds `request.body` before its first middleware. */
function createEarlyApp() {
  const app = createExpressApp()
  app.fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    armTap(raw, MEBIBYTE)
    awaitBody(raw, MEBIBYTE, () => done()) // errors wait for whoever asks for the body
  })
  return app
}

export default process.env.SUITE_BODY === 'early' ? Object.assign(createEarlyApp, createExpressApp) : createExpressApp
