import assert from 'node:assert/strict'
import { createTokenService } from 'twinroute/auth'
import { JWT_SECRET, query, REFRESH_TOKEN_SECRET } from '../support/example.js'
import type { Cluster } from './cluster.js'
import { exchange, json } from './exchange.js'

const PASSWORD = 'Correct-Horse-1'
const tokens = createTokenService({ accessSecret: JWT_SECRET, refreshSecret: REFRESH_TOKEN_SECRET })

export interface Account {
  userId: string
  email: string
  password: string
  /** An access token. */
  token: string
  authorization: string
}

/** A new account. Its access token is made here, so that nothing counts against the limit of logins. */
export async function register(cluster: Cluster, name: string, role: 'user' | 'admin' = 'user'): Promise<Account> {
  const email = `${name}@example.test`
  const account = { email, password: PASSWORD, name }
  const { status, body, text } = await exchange(cluster.address, undefined, json('POST', '/api/auth/register', account))
  assert.equal(status, 201, text)
  const userId: string = body.user.id
  if (role === 'admin') await query(`update users set role = 'admin' where email = '${email}'`, cluster.databaseUrl)
  const token = tokens.generateAccessToken({ userId, role })
  return { userId, email, password: PASSWORD, token, authorization: `Bearer ${token}` }
}
