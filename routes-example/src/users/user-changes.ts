import { ValidationError } from 'twinroute'
import { type UpdateUser, updateUser } from './user-rules.js'

const CHANGEABLE: ReadonlySet<string> = new Set(Object.keys(updateUser.shape))

// The keys come from the client and go back to it: enough to find the mistake, and no more.
const KEYS_SHOWN = 10
const KEY_LENGTH_SHOWN = 40

/**
 * Reads the body of a partial update.
 *
 * @throws {ValidationError} that lists keys which cannot be changed
 */
export function readUserChanges(body: unknown): UpdateUser {
  const rejected = keysOf(body).filter((key) => !CHANGEABLE.has(key))
  if (rejected.length > 0) throw new ValidationError(`Fields not allowed: ${listed(rejected)}`)
  return updateUser.parse(body)
}

function keysOf(body: unknown): string[] {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? Object.keys(body) : []
}

function listed(keys: string[]): string {
  const shown = keys.slice(0, KEYS_SHOWN).map((key) => key.slice(0, KEY_LENGTH_SHOWN))
  const more = keys.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}
