import type { IncomingMessage, ServerResponse } from 'node:http'
import { asEntities } from '../answer/html-text.js'
import type { Handler } from '../contract/route-module.js'
import type { Failure, FailureReason } from './failure.js'
import { RELOAD_SCRIPT } from './reload-signal.js'

const STATUS = 500

/** Answers in place of an application that does not start: a page for browsers, JSON for all others. */
export function answerFailure(failure: Failure | undefined, request: IncomingMessage, response: ServerResponse): void {
  const { type, body } = representationOf(failure ?? NOTHING, request.headers.accept)
  response.writeHead(STATUS, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(request.method === 'HEAD' ? undefined : body)
  request.resume()
}

/** The same in place of one route. */
export function failureHandler(failure: Failure): Handler {
  return (request) => {
    const { type, body } = representationOf(failure, request.headers.accept)
    const headers = { 'content-type': type, 'cache-control': 'no-store' }
    return { status: STATUS, headers, body: Buffer.from(body) }
  }
}

const NOTHING: Failure = [
  {
    code: 'NOT_STARTED',
    message: 'The application has not started to listen',
    place: undefined,
    frame: undefined,
    cause: undefined,
    fix: 'See what it has written to the terminal'
  }
]

function representationOf(failure: Failure, accept = ''): { type: string; body: string } {
  if (accept.includes('text/html')) return { type: 'text/html; charset=utf-8', body: pageOf(failure) }
  const [first] = failure
  const error = { code: first?.code, message: messageOf(first), details: failure }
  const body = JSON.stringify({ error, meta: { timestamp: new Date().toISOString() } })
  return { type: 'application/json; charset=utf-8', body }
}

function messageOf(reason: FailureReason | undefined): string {
  return [reason?.message, reason?.cause].filter((part) => part !== undefined).join(': ')
}

const STYLE = `body { margin: 0 auto; max-width: 60rem; padding: 2rem; font: 16px/1.5 system-ui, sans-serif; color-scheme: light dark }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem }
pre { overflow: auto; padding: 1rem; border: 1px solid #8886; border-radius: 6px; font: 14px/1.5 ui-monospace, monospace }
.cause { color: #c22; border-color: #c22 }
.place { font-family: ui-monospace, monospace }`

function pageOf(failure: Failure): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${asEntities(failure[0]?.message ?? 'Error')}</title>
    <style>${STYLE}</style>
    <script src="${RELOAD_SCRIPT}" defer></script>
  </head>
  <body>
    ${failure.map(sectionOf).join('\n    ')}
    <p>This page loads itself again after the next change. It is shown by <code>twinroute dev</code> only.</p>
  </body>
</html>
`
}

function sectionOf({ code, message, place, cause, frame, fix }: FailureReason): string {
  return [
    `<h2>${asEntities(message)} (${asEntities(code)})</h2>`,
    place === undefined ? '' : `<p class="place">${asEntities(place)}</p>`,
    cause === undefined ? '' : `<pre class="cause">${asEntities(cause)}</pre>`,
    frame === undefined ? '' : `<pre>${asEntities(frame)}</pre>`,
    `<p><strong>Fix:</strong> ${asEntities(fix)}</p>`
  ].join('')
}
