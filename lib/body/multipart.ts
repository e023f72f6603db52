import { writeFile } from 'node:fs/promises'
import { finished } from 'node:stream'
import { format as formatContentType, type ContentType } from 'content-type'
import type * as BusboyPackage from '@fastify/busboy'
import type { BusboyFileStream, BusboyInstance } from '@fastify/busboy'
import type { FormValue, UploadSettings } from '../contract/uploads.js'
import { abortedBody, bodyTooLarge, malformedBody, tooLarge, notStored } from '../errors/refusals.js'
import { cleanFileName, isDroppedName, unescapeName, extendedNames } from './form-names.js'
import { openFormFile, type TempFiles } from './temporary-files.js'
import { onPartHeaders, type PartHeaders } from '../link/private-names.js'
import type { LinkedRequest } from '../link/state.js'

/** A field or file of a form. */
export type FormEntry = readonly [name: string, value: FormValue]

export interface MultipartOptions {
  type: ContentType
  limits: UploadSettings
  files: TempFiles
  /** Resolves when the answer is over and the form is no longer needed. */
  over: Promise<void>
}

/**
 * Reads a multipart body: text into memory, files into temporary ones; entries in the order they were sent. The first
 * thing that goes wrong ends it. When the promise settles, nothing is being written any more.
 *
 * @throws ApiError 400 for what is not multipart or is cut off, 413 beyond a limit, 503 or 507 when a file cannot be kept
 */
export function readMultipart(request: LinkedRequest, options: MultipartOptions): Promise<FormEntry[]> {
  return new MultipartReader(request, options).read()
}

/**
 * Milliseconds that a failure waits for the client to have sent its body. A connection that is closed on a client that is
 * still writing can cost it the answer: without the wait `fetch` lost 4 of 120 on the loopback interface.
 */
const LINGER = 2000

interface TextPart {
  name: string
  value: string
  isCut: boolean
}

interface FilePart {
  name: string
  stream: BusboyFileStream
  fileName: string
  type: string
}

class MultipartReader {
  readonly #request: LinkedRequest
  readonly #limits: UploadSettings
  readonly #files: TempFiles
  readonly #parser: BusboyInstance
  /** A file's entry is undefined when it could not be stored, which is a failure of the whole. */
  readonly #entries: Promise<FormEntry | undefined>[] = []
  readonly #streams: BusboyFileStream[] = []
  #bodyBytes = 0
  #textBytes = 0
  /** `filename*` of the part read last. */
  #extendedName: string | undefined
  #failure: Error | undefined
  #isRead = false
  #stop: () => void = () => {}

  constructor(request: LinkedRequest, { type, limits, files, over }: MultipartOptions) {
    this.#request = request
    this.#limits = limits
    this.#files = files
    this.#parser = createParser(type, limits)
    void over.then(() => this.#leave())
  }

  async read(): Promise<FormEntry[]> {
    await new Promise<void>((resolve) => {
      this.#stop = resolve
      this.#listen()
      this.#request.on('data', this.#countBytes).pipe(this.#parser)
    })
    const entries = await Promise.all(this.#entries)
    if (this.#failure !== undefined) throw this.#failure
    this.#isRead = true
    return entries as FormEntry[]
  }

  #listen(): void {
    const { parts, files, fields } = this.#limits
    onPartHeaders(this.#parser, this.#readNames)
    this.#parser
      .on('field', (name: string | undefined, value, ...[, isCut]) => {
        this.#addText({ name: unescapeName(name), value, isCut })
      })
      .on('file', (name: string | undefined, stream, fileName, ...[, type]) => {
        const given = this.#extendedName ?? unescapeName(fileName) // the event comes right after the headers
        this.#addFile({ name: unescapeName(name), stream, fileName: cleanFileName(given), type })
      })
      .on('partsLimit', () => this.#fail(tooLarge(`Form has more than ${parts} parts`)))
      .on('filesLimit', () => this.#fail(tooLarge(`Form has more than ${files} files`)))
      .on('fieldsLimit', () => this.#fail(tooLarge(`Form has more than ${fields} text fields`)))
      .on('error', () => this.#fail(malformedBody('Request body is not a complete multipart form')))
      .on('finish', () => this.#stop())
    finished(this.#request, { writable: false }, (error) => {
      if (error) this.#leave()
    })
  }

  /** Busboy takes `filename` where that is quoted or comes last, and `name*` for a name: it gets the header without them. */
  readonly #readNames = (headers: PartHeaders): void => {
    const [disposition = ''] = headers['content-disposition'] ?? []
    const names = extendedNames(disposition)
    this.#extendedName = names?.fileName
    if (names !== undefined) headers['content-disposition'] = [names.plain]
  }

  readonly #countBytes = (chunk: Buffer): void => {
    this.#bodyBytes += chunk.length
    if (this.#bodyBytes <= this.#limits.totalSize) return
    this.#fail(bodyTooLarge(this.#limits.totalSize))
    this.#stop()
  }

  #addText({ name, value, isCut }: TextPart): void {
    const { fieldSize } = this.#limits
    this.#textBytes += Buffer.byteLength(name) + Buffer.byteLength(value)
    if (isCut || this.#textBytes > fieldSize) this.#fail(tooLarge(`Text fields are larger than ${fieldSize} bytes`))
    else if (!isDroppedName(name)) this.#entries.push(Promise.resolve([name, value]))
  }

  #addFile(part: FilePart): void {
    const { fileSize } = this.#limits
    const { name, stream } = part
    stream.on('error', () => {}) // a form that is cut off is reported by the parser, too
    stream.on('limit', () => this.#fail(tooLarge(`File is larger than ${fileSize} bytes`)))
    if (isDroppedName(name) || this.#failure !== undefined) {
      stream.resume()
      return
    }
    this.#streams.push(stream)
    this.#entries.push(this.#store(part))
  }

  async #store({ name, stream, fileName, type }: FilePart): Promise<FormEntry | undefined> {
    try {
      const path = await this.#files.newPath()
      await writeFile(path, stream, { flag: 'wx', mode: 0o600 })
      return [name, await openFormFile({ path, name: fileName, type })]
    } catch (error) {
      this.#fail(notStored(error as NodeJS.ErrnoException))
      return undefined
    }
  }

  /** Only the first failure counts. The rest of the body runs by for a while. */
  #fail(error: Error): void {
    if (this.#failure !== undefined || this.#isRead) return
    this.#failure = error
    this.#request.unpipe(this.#parser)
    this.#request.resume()
    for (const stream of this.#streams) stream.destroy(error)
    const timer = setTimeout(this.#stop, LINGER)
    finished(this.#request, { writable: false }, () => {
      clearTimeout(timer)
      this.#stop()
    })
  }

  /** The client has left, or has its answer. */
  #leave(): void {
    this.#fail(abortedBody())
    this.#stop()
  }
}

/** Loaded for the first form. In dist/engine.cjs, where this runs, `require` is node's. */
function busboyPackage(): typeof BusboyPackage {
  return require('@fastify/busboy') as typeof BusboyPackage
}

function createParser(type: ContentType, limits: UploadSettings): BusboyInstance {
  const { parts, files, fileSize, fields, fieldSize, headerSize } = limits
  const { Busboy } = busboyPackage()
  try {
    return new Busboy({
      headers: { 'content-type': formatContentType(type) }, // as it was read once
      limits: { parts, files, fileSize, fields, fieldSize, headerSize },
      preservePath: true, // names are cleaned by cleanFileName
      isPartAFile: (_name, _type, fileName) => fileName !== undefined // as browsers read a form
    })
  } catch {
    throw malformedBody('The Content-Type of the form names no boundary')
  }
}
