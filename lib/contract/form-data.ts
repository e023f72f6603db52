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
