import { compareSync, hashSync } from 'bcryptjs'

/** Runs in a worker thread, where the synchronous calls are faster and block no request. */
export function hash({ password, cost }: { password: string; cost: number }): string {
  return hashSync(password, cost)
}

export function compare({ password, hash }: { password: string; hash: string }): boolean {
  return compareSync(password, hash)
}
