/** The `File` of whichever FormData is in force: Node's or that of the DOM library. */
type WebFile = Exclude<ReturnType<FormData['get']>, string | null>

/**
 * A file of a form: a web `File` whose bytes lie in a temporary file, until the answer has been sent. It extends both,
 * since Node's types declare the global `File` and that of `FormData` apart.
 */
export interface FormFile extends WebFile, File {
  /** Original file name without any path; empty when the client gave none. */
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** MIME type as the client claims it. */
  readonly type: string
  /** Path of the temporary file. Rename or copy the file to keep it. */
  readonly path: string
}

export type FormValue = string | FormFile

/** The web's `FormData`, whose files have a `path`. */
export interface RequestFormData extends FormData {
  get(name: string): FormValue | null
  getAll(name: string): FormValue[]
  values(): IterableIterator<FormValue> & ReturnType<FormData['values']>
  entries(): IterableIterator<[string, FormValue]> & ReturnType<FormData['entries']>
  [Symbol.iterator](): IterableIterator<[string, FormValue]> & ReturnType<FormData['entries']>
}

/** Limits of the forms that `request.formData()` reads. Whole numbers; what exceeds one is answered with 413. */
export interface UploadLimits {
  /** Parts of a form, files and fields together. Default 100. */
  parts?: number
  /** Files of a form. Default 10. */
  files?: number
  /** Bytes of one file. Default 10 MiB. */
  fileSize?: number
  /** Text fields of a form. Default 100. */
  fields?: number
  /** Bytes of all text fields of a form together, names included: they are held in memory. Default 1 MiB. */
  fieldSize?: number
  /** Bytes that are read of the header of one part; the rest of a longer one is ignored. Default 16 KiB. */
  headerSize?: number
  /** Bytes of the whole body. Default: what the other limits add up to. */
  totalSize?: number
}

export interface UploadOptions extends UploadLimits {
  /** Where the directories of temporary files are made: a path or a file URL. Default: the system's temporary directory. */
  directory?: string | URL
}

/** Limits with nothing left open. */
export interface UploadSettings extends Required<UploadLimits> {
  /** undefined for the system's temporary directory, which is looked up when it is needed. */
  directory: string | URL | undefined
}
