// `npm run --silent sbom > sbom.json`: the list of parts (SBOM, CycloneDX) of what `npm install twinroute` brings, from the lock
// file. `npm sbom --omit dev` leaves out packages that tools need as well, so it gets a lock file without tools; and it names
// the whole after the folder it runs in, so that has the name of the package.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** As of npm's lock file: why a package is there. */
interface LockedPackage {
  dev?: boolean
  devOptional?: boolean
  peer?: boolean
}

const root = fileURLToPath(new URL('..', import.meta.url))

function read(file: string): unknown {
  return JSON.parse(readFileSync(join(root, file), 'utf8'))
}

function withoutTools<Manifest extends object>(manifest: Manifest): Manifest {
  return { ...manifest, devDependencies: undefined, peerDependencies: undefined, peerDependenciesMeta: undefined }
}

const manifest = read('package.json') as { name: string }
const lock = read('package-lock.json') as { packages: Record<string, LockedPackage> }
const installed = Object.entries(lock.packages).filter(
  ([, { dev, devOptional, peer }]) => !dev && !devOptional && !peer
)
const packages = { ...Object.fromEntries(installed), '': withoutTools(lock.packages[''] ?? {}) }
const scratch = mkdtempSync(join(tmpdir(), 'twinroute-sbom-'))
try {
  const folder = join(scratch, manifest.name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify(withoutTools(manifest)))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages }))
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=library', '--package-lock-only']
  process.stdout.write(execFileSync('npm', args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 }))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
