import type { Request } from 'twinroute'

/** Describes the files of a form. They are temporary: gone when the answer has been sent. */
export async function POST(request: Request) {
  const form = await request.formData()
  const files = [...form.values()].filter((value) => typeof value !== 'string')
  return { files: files.map(({ name, size, type }) => ({ name, size, type })) }
}
