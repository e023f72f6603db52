/** The command line asks for what cannot be made. */
export const WRONG_USE = 2

/** What was asked for is right, and could not be done. */
export const FAILED = 1

/** Nothing is made; the message says why and what to do. */
export class Refusal extends Error {
  /** Exit code of the process: {@link WRONG_USE}, {@link FAILED}, or 128 and the number of the signal that has ended it. */
  readonly code: number

  constructor(message: string, code = WRONG_USE) {
    super(message)
    this.code = code
  }
}

/** Whether the system has refused something (a full disk, a permission), which is no fault of this program. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
