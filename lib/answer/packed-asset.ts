import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A file of a page of ours, as it is kept in memory. */
export interface PackedAsset {
  readonly gzipped: Buffer
  /** `text/css; charset=utf-8` */
  readonly type: string
  readonly etag: string
}

export function packAsset(gzipped: Buffer, type: string): PackedAsset {
  return { gzipped, type, etag: `"${createHash('sha256').update(gzipped).digest('base64url')}"` }
}

const VERSION_LENGTH = 12

/** The part of its address that changes with the file. */
export function versionOf({ etag }: PackedAsset): string {
  return etag.slice(1, VERSION_LENGTH + 1)
}

/** Serves an asset. Its address carries its version, so browsers may keep it for good. */
export async function sendAsset(
  { gzipped, type, etag }: PackedAsset,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<FastifyReply> {
  reply
    .type(type)
    .header('etag', etag)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('vary', 'accept-encoding')
    .header('x-content-type-options', 'nosniff')
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(await promisify(gunzip)(gzipped))
  return reply.header('content-encoding', 'gzip').send(gzipped)
}
