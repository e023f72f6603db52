import { defineHandler } from 'twinroute'
import { z } from 'zod'
import { describedBy } from '../../described.js'

const files = z.array(z.object({ name: z.string(), size: z.int(), type: z.string() }))

/** Describes the files of a form. They are temporary: gone when the answer has been sent. */
export const POST = defineHandler(
  {
    form: describedBy(z.object({ file: z.union([z.file(), z.array(z.file())]) })),
    response: z.object({ files }),
    summary: 'Upload files, in fields of any name',
    tags: ['accounts']
  },
  async (request) => {
    const form = await request.formData()
    const files = [...form.values()].filter((value) => typeof value !== 'string')
    return { files: files.map(({ name, size, type }) => ({ name, size, type })) }
  }
)
