import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { CommandError } from '../usage.js'

/** A check of types under way. */
export interface TypeCheck {
  /** What tsc has printed, and whether it has found no error. */
  ended: Promise<{ text: string; isClean: boolean }>
  stop(): void
}

/**
 * Runs the project's TypeScript on the project's settings.
 * @returns undefined where there are none
 * @throws CommandError when TypeScript is not installed
 */
export function startTypeCheck(folder: string): TypeCheck | undefined {
  if (!existsSync(join(folder, 'tsconfig.json'))) return undefined
  const pretty = process.stderr.isTTY ? ['--pretty'] : []
  const child = spawn(process.execPath, [findCompiler(folder), '--noEmit', '-p', 'tsconfig.json', ...pretty], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const texts: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => texts.push(text))
  }
  const ended = new Promise<{ text: string; isClean: boolean }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ text: texts.join(''), isClean: code === 0 }))
  })
  return { ended, stop: () => child.kill() }
}

function findCompiler(folder: string): string {
  try {
    const manifest = createRequire(join(folder, 'package.json')).resolve('typescript/package.json')
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { tsc: string } }
    return join(dirname(manifest), bin.tsc)
  } catch {
    throw new CommandError(
      'TypeScript, which checks the types, is not installed\n' +
        'Install it: npm install --save-dev typescript, or build without the check: --no-check'
    )
  }
}
