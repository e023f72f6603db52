import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type RequestListener,
  type ServerOptions
} from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type RequestHandler } from 'express'
import t, { type Test } from 'tap'
import twinrouteExpress from 'twinroute/express'

export type Engine = typeof express

/** What middleware for Express must run on. */
const ENGINES: Record<string, Engine> = { 'Express 5': express, twinroute: twinrouteExpress as Engine }

/** A test that is run once on each engine. */
export function onEachEngine(rule: string, test: (t: Test, express: Engine) => Promise<unknown>): void {
  for (const [name, engine] of Object.entries(ENGINES)) t.test(`${rule} (${name})`, (t) => test(t, engine))
}

export interface Answer {
  status: number | undefined
  headers: IncomingHttpHeaders
  /** Parsed when it is JSON. */
  body: any
}

/** Our middleware types our request, which is Express's with more members; Express hands it one that has them by then. */
export function asExpress(middleware: (...args: any[]) => unknown): RequestHandler {
  return middleware
}

/** Listens on a free port until the test ends; returns the address. */
export async function listen(t: Test, app: RequestListener & { serverOptions?: ServerOptions }): Promise<string> {
  const server = createServer(app.serverOptions ?? {}, app).listen(0, '127.0.0.1')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** As `fetch`, but header lines go out as they are given: names and values in turn, repeated when given twice. */
export function send(url: string, headerLines: readonly string[] = []): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = ['host', new URL(url).host, ...headerLines]
    const request = httpRequest(url, { headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body: parse(text) }))
    })
    request.on('error', reject).end()
  })
}

function parse(text: string): unknown {
  return text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text
}
