import { createInterface } from 'node:readline/promises'
import { createPasswordHasher } from 'twinroute/auth'
import { z } from 'zod'
import { putAdmin } from './auth/admin.js'
import { loadDotEnv, readConfig } from './config.js'
import { Database } from './database/database.js'

// npm run example:admin -- <e-mail>
// The password comes from ADMIN_PASSWORD or the first line of the input: arguments can be read by every user of a machine.

async function main(email: string | undefined): Promise<void> {
  if (email === undefined) throw new Error('Give the e-mail address of the admin: npm run example:admin -- <e-mail>')
  loadDotEnv()
  const passwords = createPasswordHasher()
  const database = new Database(readConfig(process.env).databaseUrl, { info: () => {}, error: console.error })
  await database.start()
  try {
    const password = process.env.ADMIN_PASSWORD || (await askPassword())
    await putAdmin({ email, password }, { database, passwords })
    console.log(`${email} is an admin now`)
  } finally {
    await Promise.all([passwords.close(), database.stop()])
  }
}

async function askPassword(): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await terminal.question('Password: ')
  } finally {
    terminal.close()
  }
}

main(process.argv[2]).catch((error: unknown) => {
  console.error(error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message)
  process.exitCode = 1
})
