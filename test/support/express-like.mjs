// The factory Express's own test suite runs against (CONTRIBUTING.md, "Express's own suite"). Plain node loads it over
// dist/. The suite makes its servers with http.createServer(app); here they get the app's request and response classes,
// as app.listen() gives them.
import http from 'node:http'
import express from '../../dist/express.js'

const createServer = http.createServer
http.createServer = (...given) => {
  const app = given.find((argument) => argument?.serverOptions !== undefined)
  return app === undefined ? createServer(...given) : createServer(app.serverOptions, app)
}

export default express
