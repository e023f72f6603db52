import { randomFillSync } from 'node:crypto'

/** Ids of which one text consists. A part of a text keeps the whole in memory, for as long as somebody keeps an id. */
const IDS_OF_TEXT = 8
/** Texts for which random bytes are taken at once. */
const TEXTS = 16
const BYTES = 16
const LENGTH = 36
const DIGITS = Buffer.from('0123456789abcdef')
const DASH = 45
/** Bytes of an id that a dash stands before (RFC 9562, section 4). */
const DASHED = new Set([4, 6, 8, 10])

const random = Buffer.allocUnsafeSlow(TEXTS * IDS_OF_TEXT * BYTES)
const written = Buffer.allocUnsafeSlow(IDS_OF_TEXT * LENGTH)
let used = random.length
let text = ''
let next = IDS_OF_TEXT

/**
 * A random UUID (version 4, RFC 9562, section 5.4). Ids are made eight at a time as one text of which each is a part: node's
 * `randomUUID` joins each from twenty strings, which costs more than the rest of the header that it is sent in.
 */
export function randomId(): string {
  if (next === IDS_OF_TEXT) writeIds()
  const start = LENGTH * next++
  return text.slice(start, start + LENGTH)
}

function writeIds(): void {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  for (let id = 0; id < IDS_OF_TEXT; id++, used += BYTES) writeId(random.subarray(used, used + BYTES), id * LENGTH)
  text = written.toString('latin1')
  next = 0
}

function writeId(bytes: Buffer, start: number): void {
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40 // version 4
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80 // the variant
  let at = start
  for (let i = 0; i < BYTES; i++) {
    if (DASHED.has(i)) written[at++] = DASH
    const byte = bytes[i] as number
    written[at++] = DIGITS[byte >> 4] as number
    written[at++] = DIGITS[byte & 15] as number
  }
}
