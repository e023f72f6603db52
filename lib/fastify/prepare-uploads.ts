import type { FastifyInstance } from 'fastify'
import { kUploads, type UploadOptions } from '../contract/uploads.js'
import { removalsEnded, sweepTempFiles, tempParent } from '../body/temporary-files.js'

/**
 * Keeps on a Fastify instance what holds for the forms read there. Before it serves, the temporary files that killed
 * processes have left are removed; when it closes, its own are gone.
 */
export function prepareUploads(fastify: FastifyInstance, uploads: UploadOptions = {}): void {
  Reflect.set(fastify, kUploads, uploads)
  const parent = tempParent(uploads.directory)
  fastify.addHook('onReady', async () => {
    await sweepTempFiles(parent).catch((error: unknown) => {
      fastify.log.warn({ err: error }, `Uploads cannot be kept in ${parent}`)
    })
  })
  fastify.addHook('onClose', removalsEnded)
}
