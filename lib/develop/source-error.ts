export interface SourcePlace {
  file: string
  /** Both from 1. */
  line: number
  column: number
}

/** A file is no JavaScript or TypeScript; the place is where its reader stopped. */
export class SourceError extends SyntaxError {
  readonly place: SourcePlace

  constructor(message: string, place: SourcePlace) {
    super(message)
    this.name = 'SyntaxError'
    this.place = place
    this.stack = `${place.file}:${place.line}:${place.column}\nSyntaxError: ${message}`
  }
}
