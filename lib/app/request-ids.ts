import { randomFillSync } from 'node:crypto'

const LENGTH = 36
/** Characters of a text that ids are parts of. A part keeps the whole in memory, for as long as somebody keeps an id. */
const TEXT = 8 * LENGTH
const DASH = 45
/** Where the digits of its version and variant stand in an id (RFC 9562, sections 4.1 and 4.2). */
const VERSION = 14
const VARIANT = 19

/** The characters of many ids, so that random bytes are taken seldom. */
const characters = Buffer.allocUnsafeSlow(16 * TEXT)
const words = new Int32Array(characters.buffer)
let used = characters.length
let text = ''
let next = TEXT

/**
 * A random UUID (version 4, RFC 9562, section 5.4). Ids are made eight at a time as one text of which each is a part: node's
 * `randomUUID` joins each from twenty strings, which costs more than the rest of the header that it is sent in.
 */
export function randomId(): string {
  if (next === TEXT) takeText()
  const start = next
  next += LENGTH
  return text.slice(start, next)
}

function takeText(): void {
  if (used === characters.length) writeIds()
  text = characters.toString('latin1', used, used + TEXT)
  used += TEXT
  next = 0
}

/** A random byte for each character: with two digits of one byte, where the next one stands depends on the dashes. */
function writeIds(): void {
  randomFillSync(characters)
  for (let id = 0; id < characters.length; id += LENGTH) {
    characters[id + VERSION] = 4
    characters[id + VARIANT] = 8 | ((characters[id + VARIANT] as number) & 3)
  }
  for (let at = 0; at < words.length; at++) words[at] = digitsOf(words[at] as number)
  for (let id = 0; id < characters.length; id += LENGTH) {
    characters[id + 8] = characters[id + 13] = characters[id + 18] = characters[id + 23] = DASH
  }
  used = 0
}

/**
 * Turns four bytes into the hexadecimal digits of their lower halves, all at once: six added to a ten or more reaches the upper
 * half, and letters are 39 characters further than the digits would go on.
 */
function digitsOf(bytes: number): number {
  const halves = bytes & 0x0f0f0f0f
  const letters = ((halves + 0x06060606) >> 4) & 0x01010101
  return halves + 0x30303030 + Math.imul(letters, 39)
}
