import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A span as OTLP has it. */
export interface SentSpan {
  name: string
  spanId: string
  parentSpanId?: string
  attributes: { key: string; value: { stringValue?: string } }[]
  /** 2 for an error. */
  status: { code?: number }
}

interface Traces {
  resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[]
}

/** A collector: what is posted to it as OTLP over HTTP. */
export async function withCollector(work: (endpoint: string, spans: readonly SentSpan[]) => Promise<void>) {
  const spans: SentSpan[] = []
  const server = createServer((request, response) => {
    if (request.url !== '/v1/traces') return void response.writeHead(404).end()
    void json(request).then((traces) => {
      const { resourceSpans } = traces as Traces
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
      response.setHeader('content-type', 'application/json').end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
