import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { deferContinue } from '../body/wait.js'
import { furtherServers } from '../link/private-names.js'
import type { LinkedResponse } from '../link/state.js'
import type { Shutdown } from './shutdown.js'

/**
 * Prepares every server of an app: the main one, and those Fastify adds while it starts to listen, one for each further
 * address of a host name (`localhost` is 127.0.0.1 and ::1).
 */
export function prepareServers(app: FastifyInstance, shutdown: Shutdown): void {
  answerContinue(app, app.server)
  shutdown.watch(app.server)
  app.addHook('onListen', (done) => {
    for (const server of furtherServers(app)) {
      answerContinue(app, server)
      shutdown.watch(server)
      // Fastify gives its handler of malformed requests to the main server only
      for (const answer of app.server.listeners('clientError')) server.on('clientError', answer as () => void)
    }
    done()
  })
}

/** `Expect: 100-continue`: the body is asked for when somebody wants it, so that a guard can refuse without it. */
function answerContinue(app: FastifyInstance, server: Server): void {
  server.on('checkContinue', (request, response) => {
    deferContinue(request, response as LinkedResponse)
    app.server.emit('request', request, response)
  })
}
