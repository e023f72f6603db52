/** A message to one person, in plain text. */
export interface Mail {
  to: string
  subject: string
  text: string
}

/** Hands a message over for delivery. Give `createExample` your own to use a mail provider. */
export type SendMail = (mail: Mail) => Promise<void>
