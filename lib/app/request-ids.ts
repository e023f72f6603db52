import { randomFillSync } from 'node:crypto'

const IDS = 128
const BYTES = 16
const LENGTH = 36
const DIGITS = Buffer.from('0123456789abcdef')
const DASH = 45
/** Bytes of an id that a dash stands before (RFC 9562, section 4). */
const DASHED = new Set([4, 6, 8, 10])

const random = Buffer.allocUnsafeSlow(IDS * BYTES)
const written = Buffer.allocUnsafeSlow(IDS * LENGTH)
let text = ''
let next = IDS

/**
 * A random UUID (version 4, RFC 9562, section 5.4). Ids are made 128 at a time as one text of which each is a part: node's
 * `randomUUID` joins each from twenty strings, which cost a request more to send than all else of its header.
 */
export function randomId(): string {
  if (next === IDS) makeIds()
  const start = LENGTH * next++
  return text.slice(start, start + LENGTH)
}

function makeIds(): void {
  randomFillSync(random)
  for (let id = 0; id < IDS; id++) writeId(random.subarray(id * BYTES, (id + 1) * BYTES), id * LENGTH)
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
