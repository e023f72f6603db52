import type { AddressInfo } from 'node:net'
import { styleText } from 'node:util'
import { displayPath } from '../errors/boot-error.js'

/** A line of the development server among those of the application. */
export function tell(text: string): void {
  process.stdout.write(`${styleText('cyan', 'twinroute', { stream: process.stdout })} ${text}\n`)
}

/** What keeps the command from its work, without a name before it, as other commands print it. */
export function tellWrong(text: string): void {
  process.stderr.write(`${text}\n`)
}

export function tellError(thrown: unknown): void {
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  process.stderr.write(`${text}\n`)
}

const MOST_NAMED = 3

export function changeText(files: readonly string[]): string {
  const named = files.slice(0, MOST_NAMED).map(displayPath).join(', ')
  return files.length > MOST_NAMED ? `${named} and ${files.length - MOST_NAMED} more` : named
}

export function addressText(address: AddressInfo | string, scheme: 'http' | 'https' = 'http'): string {
  if (typeof address === 'string') return address
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `${scheme}://${host}:${address.port}`
}
