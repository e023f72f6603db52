// Runs scripts of package.json at the same time and prints the output of each when it ends: `jiti scripts/side-by-side.ts
// build:tests types`. The exit code is 1 when one of them has failed.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

async function run(name: string): Promise<boolean> {
  const shell = process.platform === 'win32'
  const script = spawn('npm', ['run', '--silent', name], { shell, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => script.once('close', resolve))
  const [code, output, errors] = await Promise.all([ended, text(script.stdout), text(script.stderr)])
  process.stdout.write(`> ${name}${code === 0 ? '' : ` failed (${code})`}\n${output}${errors}`)
  return code === 0
}

const results = await Promise.all(process.argv.slice(2).map(run))
if (results.includes(false)) process.exitCode = 1
