// What middleware, a handler or a hook does with hostile values. An act is a row: its name and the values it takes.
import type { Readable } from 'node:stream'

export interface Hands {
  request: any
  response: any
  /** Passes the request on, or an error. */
  next: (error?: unknown) => void
}

type Perform = (hands: Hands, ...values: any[]) => unknown

/** A function would be a callback, and what a callback throws has no catcher anywhere. */
function data(value: unknown): unknown {
  return typeof value === 'function' ? 'a function' : value
}

/** Sets something; the answer comes from a later act. */
export const SETTERS: Readonly<Record<string, Perform>> = {
  setHeader: ({ response }, name, value) => response.setHeader(name, value),
  'setHeader x-a': ({ response }, value) => response.setHeader('x-a', value),
  setHeaders: ({ response }, value) => response.setHeaders(value),
  appendHeader: ({ response }, name, value) => response.appendHeader(name, value),
  removeHeader: ({ response }, name) => response.removeHeader(name),
  set: ({ response }, name, value) => response.set(name, value),
  'set of an object': ({ response }, value) => response.set(value),
  append: ({ response }, name, value) => response.append(name, value),
  cookie: ({ response }, name, value) => response.cookie(name, value),
  'cookie with options': ({ response }, path, domain) => response.cookie('c', 'd', { path, domain }),
  'cookie with an age': ({ response }, maxAge, expires) => response.cookie('c', 'd', { maxAge, expires }),
  'cookie with hostile options': ({ response }, options) => response.cookie('c', 'd', options),
  clearCookie: ({ response }, name, options) => response.clearCookie(name, options),
  status: ({ response }, value) => response.status(value),
  'statusCode =': ({ response }, value) => (response.statusCode = value),
  'statusMessage =': ({ response }, value) => (response.statusMessage = value),
  type: ({ response }, value) => response.type(value),
  vary: ({ response }, value) => response.vary(value),
  links: ({ response }, value) => response.links(value),
  location: ({ response }, value) => response.location(value),
  attachment: ({ response }, value) => response.attachment(value),
  'locals =': ({ response }, value) => (response.locals = value),
  'query =': ({ request }, value) => (request.query = value),
  'body =': ({ request }, value) => (request.body = value),
  'params =': ({ request }, value) => (request.params = value),
  'cookies =': ({ request }, value) => (request.cookies = value),
  'method =': ({ request }, value) => (request.method = value),
  'url =': ({ request }, value) => (request.url = value),
  Trailer: ({ response }) => response.setHeader('Trailer', 'x-end'),
  'Content-Length': ({ response }, value) => response.setHeader('Content-Length', value),
  addTrailers: ({ response }, value) => response.addTrailers(value),
  'read members': ({ request }) => [request.ip, request.hostname, request.cookies, request.query, request.fresh]
}

/** Ends the request, in one of the ways there are. */
export const ANSWERS: Readonly<Record<string, Perform>> = {
  throw: (_hands, value) => {
    throw value
  },
  reject: (_hands, value) => Promise.reject(value),
  return: (_hands, value) => (value === undefined ? null : value),
  resolve: async (_hands, value) => (value === undefined ? null : value),
  next: ({ next }, value) => next(value ?? new Error('nothing')),
  json: ({ response }, value) => void response.json(value),
  jsonp: ({ response }, value) => void response.jsonp(value),
  send: ({ response }, value) => void response.send(value),
  end: ({ response }, value) => void response.end(data(value)),
  'end with an encoding': ({ response }, value) => void response.end('text', data(value)),
  'write and end': ({ response }, value) => {
    response.write(data(value))
    response.end()
  },
  'write and throw': ({ response }, value) => {
    response.write('part')
    throw value
  },
  'writeHead with a phrase': ({ response }, status, phrase) => {
    response.writeHead(status, phrase)
    response.end('x')
  },
  'writeHead with headers': ({ response }, value) => {
    response.writeHead(200, value)
    response.end('x')
  },
  redirect: ({ response }, value) => void response.redirect(value),
  'redirect with a status': ({ response }, status, value) => void response.redirect(status, value),
  sendStatus: ({ response }, value) => void response.sendStatus(value),
  sendFile: ({ response }, value) => void response.sendFile(value),
  'sendFile with options': ({ request, response }, value) =>
    void response.sendFile('file.txt', { root: request.folder, headers: value }),
  'sendFile with hostile options': ({ request, response }, value) =>
    void response.sendFile(`${request.folder}/file.txt`, data(value)),
  'sendFile, dotted': ({ request, response }, value) =>
    void response.sendFile(value, { root: request.folder, dotfiles: value }),
  download: ({ request, response }, name) => void response.download(`${request.folder}/file.txt`, data(name)),
  render: ({ response }, value) => void response.render(value),
  format: ({ response }, value) => void response.format({ json: () => response.json(value), default: value }),
  pipe: ({ response, next }, stream: Readable) => {
    stream.on('error', next)
    stream.pipe(response)
  },
  'status object': (_hands, status, body) => ({ status, body }),
  'status object with headers': (_hands, headers, body) => ({ status: 200, headers, body }),
  'status object with a header': (_hands, name, value) => ({ status: 200, headers: { [name]: value }, body: 'x' }),
  'answer twice': ({ response }, value) => {
    response.send('one')
    response.write(data(value))
    response.end(data(value))
    return value
  }
}

/** How many values the act takes. */
export function arity(name: string): number {
  return ((SETTERS[name] ?? ANSWERS[name]) as Perform).length - 1
}

/** An act and the names of its values. */
export type Act = readonly [name: string, ...values: string[]]
