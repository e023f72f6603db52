import type { Pagination } from './pagination.js'

export interface EnvelopeOptions {
  /** The request answered: its `requestId` goes into `meta`. */
  request?: { readonly requestId?: string }
  pagination?: Pagination
  message?: string
}

/** A successful answer, wrapped. */
export interface Envelope<Data> {
  data: Data
  meta: {
    /** ISO 8601. */
    timestamp: string
    requestId?: string
    pagination?: Pagination
  }
  message?: string
}

/** A successful answer, plain. */
export interface PlainEnvelope<Data> {
  data: Data
  message?: string
}

function wrap<Data>(data: Data, options: EnvelopeOptions = {}): Envelope<Data> {
  const { request, pagination, message } = options
  const meta: Envelope<Data>['meta'] = { timestamp: new Date().toISOString() }
  if (request?.requestId !== undefined) meta.requestId = request.requestId
  if (pagination !== undefined) meta.pagination = pagination
  return message === undefined ? { data, meta } : { data, meta, message }
}

function plain<Data>(data: Data, message?: string): PlainEnvelope<Data> {
  return message === undefined ? { data } : { data, message }
}

/**
 * `envelope(data, { request, pagination, message })` wraps `data` as `{ data, meta, message? }`, where `meta` holds the
 * time and, as given, the request's id and the pagination object; `envelope.plain(data, message)` is `{ data, message? }`.
 * What is not given is left out.
 */
export const envelope = Object.assign(wrap, { plain })
