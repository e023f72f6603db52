/** Nothing is made; the message says why and what to do. */
export class Refusal extends Error {
  /** Exit code of the process: 1 for wrong input, 130 when the user has left. */
  readonly code: number

  constructor(message: string, code = 1) {
    super(message)
    this.code = code
  }
}
