import type { IncomingMessage, ServerResponse } from 'node:http'

const EVENTS = '/__twinroute/reload'

/** A script that loads the page around it again after a change. */
export const RELOAD_SCRIPT = `${EVENTS}.js`

// A stream that ends and opens again belongs to a process that was replaced.
const SOURCE = `let opened = false
const source = new EventSource('${EVENTS}')
source.onopen = () => {
  if (opened) location.reload()
  opened = true
}
source.onmessage = () => location.reload()
`

/** Tells the browsers that show a page with {@link RELOAD_SCRIPT} when to load it again. */
export class ReloadSignal {
  readonly #listening = new Set<ServerResponse>()

  /** Whether the request was for the script or for its events; then it is answered. */
  answer({ url }: IncomingMessage, response: ServerResponse): boolean {
    if (url === RELOAD_SCRIPT) {
      response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-store' })
      response.end(SOURCE)
      return true
    }
    if (url !== EVENTS) return false
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    response.write('retry: 300\n\n')
    this.#listening.add(response.once('close', () => this.#listening.delete(response)))
    return true
  }

  send(): void {
    for (const response of this.#listening) response.write('data: changed\n\n')
  }

  end(): void {
    for (const response of this.#listening) response.end()
  }
}
