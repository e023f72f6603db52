import { randomUUID } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mail, SendMail } from './mail.js'

/** Leaves each message as a file in a pickup folder, from where a mail server takes it. */
export function mailFolder(folder: string): SendMail {
  return async (mail) => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = join(folder, `${randomUUID()}.eml`)
    // Renamed when complete, so that nobody picks up half a message.
    await writeFile(`${file}.part`, toMessage(mail), { mode: 0o600 })
    await rename(`${file}.part`, file)
  }
}

function toMessage({ to, subject, text }: Mail): string {
  // A line break in an address would begin a header of the sender's choice.
  if (/[\u0000-\u001f\u007f]/.test(to)) throw new Error('The address holds a control character')
  return [
    `To: ${to}`,
    `Subject: ${subject}`,
    `Date: ${new Date().toUTCString()}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    text,
    ''
  ].join('\r\n')
}
