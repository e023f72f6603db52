// `npm run release`: publishes twinroute and create-twinroute with provenance, in a job of CI that has an identity (OIDC).
// `npm run release -- --check` only says what would keep it from doing so.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Manifest {
  name: string
  version: string
  repository?: { url?: string } | string
  dependencies?: Record<string, string>
}

function read(path: string): string {
  return readFileSync(`${root}/${path}`, 'utf8')
}

const manifestOf = (folder: string): Manifest => JSON.parse(read(`${folder}/package.json`)) as Manifest

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

/** Each a sentence with what to do. */
function problems(): string[] {
  const { version, repository } = manifestOf('.')
  const tag = `v${version}`
  const found: string[] = []
  if (git('status', '--porcelain') !== '') found.push('There are changes that are not committed: commit them')
  if (!git('tag', '--points-at', 'HEAD').split('\n').includes(tag)) found.push(`HEAD has no tag ${tag}: git tag ${tag}`)
  if (!new RegExp(`^## ${version.replaceAll('.', '\\.')}\\b`, 'm').test(read('CHANGELOG.md'))) {
    found.push(`CHANGELOG.md has no heading "## ${version}": rename "## Unreleased"`)
  }
  if (repository === undefined) {
    found.push('package.json names no repository, and provenance is about one: set repository.url to that of the job')
  }
  const creator = manifestOf('create-twinroute').version
  if (creator !== version) found.push(`create-twinroute has the version ${creator}: set it to ${version}`)
  if (!hasIdentity(process.env)) {
    found.push(
      'This is no job of CI with an identity: run it on GitHub with id-token: write, or on GitLab with SIGSTORE_ID_TOKEN'
    )
  }
  return found
}

/** What npm signs the provenance with. */
function hasIdentity({ ACTIONS_ID_TOKEN_REQUEST_URL, SIGSTORE_ID_TOKEN }: NodeJS.ProcessEnv): boolean {
  return ACTIONS_ID_TOKEN_REQUEST_URL !== undefined || SIGSTORE_ID_TOKEN !== undefined
}

/** Whether the registry has a version, as it does when an earlier run has failed half-way. */
function isPublished({ name, version }: Manifest): boolean {
  const asked = ['view', `${name}@${version}`, 'version', '--prefer-online']
  const { status, stdout, stderr } = spawnSync('npm', asked, { cwd: root, encoding: 'utf8' })
  if (status === 0) return stdout.trim() === version
  if (/\bE404\b/.test(stderr)) return false
  throw new Error(`npm view ${name}@${version} has failed\n${stderr}`)
}

function publish(folder: string): void {
  const manifest = manifestOf(folder)
  const { name, version } = manifest
  if (isPublished(manifest)) return void process.stdout.write(`The registry has ${name} ${version}\n`)
  process.stdout.write(`npm publish --provenance: ${name} ${version}\n`)
  execFileSync('npm', ['publish', '--provenance', '--access', 'public'], { cwd: `${root}/${folder}`, stdio: 'inherit' })
}

const found = problems()
for (const problem of found) process.stdout.write(`- ${problem}\n`)
if (found.length > 0) process.exitCode = 1
else if (process.argv.includes('--check')) process.stdout.write('Nothing keeps this commit from being published\n')
else for (const folder of ['.', 'create-twinroute']) publish(folder)
