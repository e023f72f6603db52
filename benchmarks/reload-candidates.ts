import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NITRO, TWINROUTE, type ReloadTexts } from './reload-texts.js'

const benchmarks = fileURLToPath(new URL('..', import.meta.url))

/** What loads an application again after a change. */
export interface ReloadCandidate {
  name: string
  texts: ReloadTexts
  /** Arguments of node; the port is the environment variable PORT. */
  command: readonly string[]
  /** Whether it is one process that lives through changes, whose memory may grow. */
  lives: boolean
}

export function reloadCandidates(node: string): readonly ReloadCandidate[] {
  const tsx = join(benchmarks, 'node_modules/tsx/dist')
  return [
    {
      name: 'twinroute',
      texts: TWINROUTE,
      command: [join(benchmarks, '../dist/command/twinroute.js'), 'dev', 'src/server.ts'],
      lives: true
    },
    {
      name: 'tsx',
      texts: TWINROUTE,
      command: [join(tsx, 'cli.mjs'), 'watch', '--clear-screen=false', 'src/server.ts'],
      lives: false
    },
    {
      name: 'node',
      texts: TWINROUTE,
      command: ['--watch', ...(runsTypeScript(node) ? [] : ['--import', join(tsx, 'esm/index.mjs')]), 'src/server.ts'],
      lives: false
    },
    {
      name: 'nitro',
      texts: NITRO,
      command: [join(benchmarks, 'node_modules/nitro/dist/cli/index.mjs'), 'dev', '--host', '127.0.0.1'],
      lives: true
    }
  ]
}

/** Node 20 needs a loader for it. */
function runsTypeScript(node: string): boolean {
  return execFileSync(node, ['-p', 'Boolean(process.features.typescript)']).toString().trim() === 'true'
}
