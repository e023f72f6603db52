import { parse as parseContentType, type ContentType } from 'content-type'
import { uploadsOn } from '../contract/instance-state.js'
import type { RequestFormData, UploadSettings } from '../contract/uploads.js'
import { resolveUploads } from '../options/defaults.js'
import { cutText } from '../errors/cut-text.js'
import { bodyTooLarge, unsupportedBody, abortedBody, tooLarge } from '../errors/refusals.js'
import { readMultipart, type FormEntry } from './multipart.js'
import { routeFileOf } from '../link/refusal.js'
import { kForm, kReply, type LinkedRequest, type LinkedResponse } from '../link/state.js'
import { TempFiles, tempParent } from './temporary-files.js'
import { readBody } from './stream.js'
import { isDroppedName } from './form-names.js'

const MULTIPART = 'multipart/form-data'
const URLENCODED = 'application/x-www-form-urlencoded'

/**
 * `request.formData()`: the multipart or urlencoded body as the web's FormData
 * (https://fetch.spec.whatwg.org/#dom-body-formdata), read on the first call; later calls get the same promise.
 *
 * @throws ApiError 400 malformed, 413 beyond a limit, 415 another type or a compressed body, 503 or 507 not storable;
 * Error when a middleware has read the body
 */
export function formData(this: LinkedRequest): Promise<RequestFormData> {
  const known = this[kForm]
  if (known !== null) return known
  const form = readForm(this)
  form.catch(() => {}) // the handler may not be waiting any more: the client has left, or it has answered
  return (this[kForm] = form)
}

async function readForm(request: LinkedRequest): Promise<RequestFormData> {
  const contentType = formTypeOf(request)
  const limits = settingsOf(request)
  if (Number(request.headers['content-length']) > limits.totalSize) throw bodyTooLarge(limits.totalSize)
  const isMultipart = contentType.type === MULTIPART
  return toFormData(await (isMultipart ? readFiles(request, contentType, limits) : readText(request, limits)))
}

/** The Content-Type, if it is one of the two that make a form. */
function formTypeOf(request: LinkedRequest): ContentType {
  const contentType = parseContentType(request.headers['content-type'] ?? '')
  const type = contentType.type.trim().toLowerCase()
  if (type === MULTIPART || type === URLENCODED) return { ...contentType, type }
  throw unsupportedBody(`A form is ${MULTIPART} or ${URLENCODED}, not ${type === '' ? 'of no type' : cutText(type)}`)
}

/** What the app says, and the route file over it. */
function settingsOf(request: LinkedRequest): UploadSettings {
  const reply = responseOf(request)[kReply]
  if (reply === null) return resolveUploads()
  return resolveUploads(uploadsOn(reply.server), routeFileOf(reply.request)?.module.config.uploads)
}

function responseOf(request: LinkedRequest): LinkedResponse {
  return request.res as LinkedResponse
}

/** Files go into temporary ones, which are gone as soon as the answer is over, or the form cannot be read. */
async function readFiles(request: LinkedRequest, type: ContentType, limits: UploadSettings): Promise<FormEntry[]> {
  if (isRead(request)) throw alreadyRead()
  if (isCompressed(request)) throw compressed()
  const files = new TempFiles(tempParent(limits.directory))
  const over = endOf(responseOf(request))
  try {
    const entries = await readMultipart(request, { type, limits, files, over })
    void over.then(() => remove(files, request))
    return entries
  } catch (error) {
    await remove(files, request)
    throw error
  }
}

async function remove(files: TempFiles, request: LinkedRequest): Promise<void> {
  try {
    await files.remove()
  } catch (error) {
    responseOf(request)[kReply]?.log.warn(
      { err: error },
      'twinroute could not remove the temporary files of an upload; it tries again when the next process starts'
    )
  }
}

/** When the answer has been sent, or cannot be sent any more. */
function endOf(response: LinkedResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve()
  return new Promise((resolve) => response.once('close', resolve))
}

async function readText(request: LinkedRequest, limits: UploadSettings): Promise<FormEntry[]> {
  const isEncoded = isCompressed(request)
  if (!isEncoded && !isRead(request)) return readUrlencoded(request, limits)
  const entries = entriesOfBody(request.body)
  if (entries === undefined) throw isEncoded ? compressed() : alreadyRead()
  return entries
}

/** A middleware reads the stream, or has read it; what our own body step has read is back in its buffer. */
function isRead(request: LinkedRequest): boolean {
  if (request.readableEnded || request.readableFlowing === true) return true
  return request.readableDidRead && request.readableLength === 0
}

function alreadyRead(): Error {
  return new Error(
    'formData() comes too late: a middleware has read the body (see request.body, request.file, request.files)'
  )
}

function isCompressed(request: LinkedRequest): boolean {
  const encoding = request.headers['content-encoding']
  return encoding !== undefined && encoding !== 'identity'
}

function compressed(): Error {
  return unsupportedBody('A form must not be compressed')
}

function toFormData(entries: readonly FormEntry[]): RequestFormData {
  const form = new FormData()
  for (const [name, value] of entries) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value)
  }
  return form as RequestFormData
}

type TextEntry = readonly [name: string, value: string]

/** Reads a urlencoded body as the web does (https://url.spec.whatwg.org/#urlencoded-parsing). */
async function readUrlencoded(request: LinkedRequest, limits: UploadSettings): Promise<TextEntry[]> {
  const bytes = await readAll(request, limits.fieldSize)
  const entries = [...new URLSearchParams(bytes.toString())]
  if (entries.length > limits.fields) throw tooLarge(`Form has more than ${limits.fields} text fields`)
  return entries.filter(([name]) => !isDroppedName(name))
}

function readAll(request: LinkedRequest, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) return reject(abortedBody())
    readBody(request, limit, (error, bytes) => (error === null ? resolve(bytes) : reject(error)))
  })
}

/**
 * The form of a urlencoded body that a parser has read: names with one text or a list of texts. undefined for what has
 * another form, as the nested objects of `express.urlencoded({ extended: true })`.
 */
function entriesOfBody(body: unknown): TextEntry[] | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const entries: TextEntry[] = []
  for (const [name, value] of Object.entries(body as Record<string, unknown>)) {
    for (const text of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof text !== 'string') return undefined
      if (!isDroppedName(name)) entries.push([name, text])
    }
  }
  return entries
}
