import assert from 'node:assert/strict'
import { join } from 'node:path'
import { root, run } from './programs.js'
import type { Row } from './rows.js'

/** Folders whose packages users get. */
const FOLDERS = ['.', 'create-twinroute']

export const lockRows: readonly Row[] = FOLDERS.map((folder): Row => [
  `the lock file of ${folder === '.' ? 'twinroute' : folder} says what its package.json asks for`,
  async () => {
    const args = ['ci', '--dry-run', '--ignore-scripts', '--no-audit', '--no-fund', '--offline']
    const { code, errors } = await run('npm', args, join(root, folder))
    assert.equal(code, 0, errors)
  }
])
