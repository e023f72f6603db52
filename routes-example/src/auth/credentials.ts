import { ValidationError } from 'twinroute'

export interface Credentials {
  /** Trimmed and lower-cased. */
  email: string
  password: string
}

/** What registration takes; a name is optional. */
export interface Registration extends Credentials {
  name?: string
}

const LONGEST_EMAIL = 320
const LONGEST_NAME = 100

/** E-mail and password of a request body; undefined when either is missing or is no text. */
export function readCredentials(body: unknown): Credentials | undefined {
  const { email: address, password } = Object(body) as Record<string, unknown>
  const email = readEmail(address)
  return email === undefined || typeof password !== 'string' || password === '' ? undefined : { email, password }
}

/** @throws {ValidationError} when something is missing, no text, or too long to keep */
export function readRegistration(body: unknown): Registration {
  const credentials = readCredentials(body)
  if (credentials === undefined) throw new ValidationError('Email and password are required')
  if (credentials.email.length > LONGEST_EMAIL) throw new ValidationError('Email is too long')
  const { name } = body as { name?: unknown }
  if (name === undefined || name === null) return credentials
  if (typeof name !== 'string' || name.length > LONGEST_NAME) {
    throw new ValidationError(`Name must be a text of at most ${LONGEST_NAME} characters`)
  }
  return { ...credentials, name }
}

/** An e-mail address as it is stored; undefined when there is none. */
export function readEmail(value: unknown): string | undefined {
  return typeof value === 'string' ? value.trim().toLowerCase() || undefined : undefined
}
