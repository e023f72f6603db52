import http, { type Server } from 'node:http'
import { serverClassNames } from '../link/private-names.js'

/** What goes on to the server of the application. */
export interface Receiver {
  emit(event: string, given: unknown[]): boolean
  listenerCount(event: string): number
}

/** All that node's HTTP server tells about requests, but for new connections. */
const OF_REQUESTS = new Set<unknown>([
  'request',
  'checkContinue',
  'checkExpectation',
  'upgrade',
  'connect',
  'clientError',
  'dropRequest',
  'timeout'
])

/** What a server reads of itself for each connection or request. */
const SETTINGS = [
  'timeout',
  'keepAliveTimeout',
  'keepAliveTimeoutBuffer',
  'headersTimeout',
  'requestTimeout',
  'maxHeadersCount',
  'maxHeaderSize',
  'maxRequestsPerSocket',
  'insecureHTTPParser',
  'joinDuplicateHeaders',
  'requireHostHeader',
  'rejectNonStandardBodyWrites'
]

/** An HTTP server that listens nowhere: it reads requests from connections that it is given, and passes them on. */
export function createFront(receiver: Receiver): Server {
  const front = http.createServer()
  const { emit, listenerCount } = front
  Object.assign(front, {
    emit: (event: string, ...given: unknown[]): unknown =>
      OF_REQUESTS.has(event) ? receiver.emit(event, given) : Reflect.apply(emit, front, [event, ...given]),
    listenerCount: (event: string, ...given: unknown[]): unknown =>
      OF_REQUESTS.has(event) ? receiver.listenerCount(event) : Reflect.apply(listenerCount, front, [event, ...given])
  })
  front.emit('listening') // node begins to look for connections that take too long
  return front
}

/** From now on requests are what a server would make of them: of its classes, within its limits. */
export function imitate(front: Server, server: Server): void {
  const names = serverClassNames(front)
  if (names !== undefined) {
    for (const name of [names.request, names.response]) Reflect.set(front, name, Reflect.get(server, name))
  }
  for (const name of SETTINGS) if (name in server) Reflect.set(front, name, Reflect.get(server, name))
}
