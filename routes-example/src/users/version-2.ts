import type { Request } from 'twinroute'
import { type Envelope, envelope, type Pagination } from 'twinroute/http'

/** What version 1 answers under `/api/users`. */
export interface Version1Body<Data = unknown> {
  data: Data
  meta?: { pagination?: Pagination }
  message?: string
}

/** Version 2 wraps every answer: a timestamp and the request's id beside the data. */
export function toVersion2<Data>(
  { data, meta, message }: Version1Body<Data>,
  request: Pick<Request, 'requestId'>
): Envelope<Data> {
  return envelope(data, {
    request,
    ...(meta?.pagination && { pagination: meta.pagination }),
    ...(message !== undefined && { message })
  })
}
