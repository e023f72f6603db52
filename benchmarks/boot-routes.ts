import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Route files of two methods each. */
export function writeRoutes(top: string, count: number): void {
  for (let i = 0; i < count; i++) {
    const folder = join(top, `group${i % 10}`, `resource${i}`, '[id]')
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      join(folder, 'route.mjs'),
      `export const GET = () => ({ i: ${i} })\nexport const POST = () => ({ i: ${i} })\n`
    )
  }
}

const PROGRAM = `import { createApp } from 'twinroute'
export const app = await createApp({
  apiDir: new URL('./api', import.meta.url),
  mode: 'production',
  fastifyOptions: { logger: false }
})
`

/** Runs `twinroute build` on such routes. Returns the built program. */
export function buildProgram(top: string, count: number): string {
  const twinroute = fileURLToPath(new URL('../..', import.meta.url))
  writeRoutes(join(top, 'api'), count)
  writeFileSync(join(top, 'package.json'), '{"type":"module"}')
  writeFileSync(join(top, 'server.mjs'), PROGRAM)
  mkdirSync(join(top, 'node_modules'))
  symlinkSync(twinroute, join(top, 'node_modules/twinroute'))
  execFileSync(process.execPath, [join(twinroute, 'dist/command/twinroute.js'), 'build', 'server.mjs'], {
    cwd: top,
    stdio: 'ignore'
  })
  return join(top, 'dist/server.js')
}
