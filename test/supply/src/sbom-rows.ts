import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { root, run } from './programs.js'
import type { Row } from './rows.js'

interface Sbom {
  bomFormat: string
  metadata: { component: { name: string; version: string; type: string } }
  components: { name: string; version: string; purl: string; licenses?: unknown[]; hashes?: { alg: string }[] }[]
}

interface LockedPackage {
  version: string
  dependencies?: object
  optionalDependencies?: object
  peerDependencies?: object
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

type Packages = Record<string, LockedPackage>

let printed: Promise<string> | undefined

async function sbomText(): Promise<string> {
  printed ??= run('npm', ['run', '--silent', 'sbom']).then(({ code, text, errors }) => {
    assert.equal(code, 0, errors)
    return text
  })
  return printed
}

const sbom = async (): Promise<Sbom> => JSON.parse(await sbomText()) as Sbom

const nameOf = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** Node looks beside the package, and then further up. */
function placeOf(packages: Packages, from: string, name: string): string | undefined {
  const above = from.split('/node_modules/')
  const folders = above.map((_part, index) => above.slice(0, above.length - index).join('/node_modules/'))
  return [...folders, '']
    .map((folder) => `${folder}/node_modules/${name}`.replace(/^\//, ''))
    .find((place) => place in packages)
}

/** What npm installs for these, by following what each needs. */
function installedFor(packages: Packages, names: readonly string[], from = '', found = new Set<string>()): Set<string> {
  for (const name of names) {
    const place = placeOf(packages, from, name)
    if (place === undefined || found.has(place)) continue
    found.add(place)
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = packages[
      place
    ] as LockedPackage
    const peers = Object.keys(peerDependencies ?? {}).filter((peer) => !peerDependenciesMeta?.[peer]?.optional)
    installedFor(packages, [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers], place, found)
  }
  return found
}

export const sbomRows: readonly Row[] = [
  [
    'npm run sbom prints a list of parts that follows the schema of CycloneDX 1.5',
    async () => {
      const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot5)
      assert.equal(await validator.validate(await sbomText()), null)
      const broken = JSON.stringify({ ...(await sbom()), bomFormat: 'CycloneDZ' })
      assert.notEqual(await validator.validate(broken), null, 'and one that does not is found')
    }
  ],
  [
    'it is that of this version, and has every package that npm install twinroute brings, and no other',
    async () => {
      const { metadata, components } = await sbom()
      const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, never>
      const { name, version } = manifest
      assert.deepEqual([metadata.component.name, metadata.component.version], [name, version])
      const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Packages }
      const direct = Object.keys(manifest['dependencies'] ?? {})
      const wanted = [...installedFor(packages, direct)].map((place) => `${nameOf(place)}@${packages[place]?.version}`)
      const listed = components.map((component) => `${component.name}@${component.version}`)
      assert.deepEqual([...new Set(listed)].toSorted(), [...new Set(wanted)].toSorted())
      assert.deepEqual(
        direct.filter((needed) => !components.some((component) => component.name === needed)),
        []
      )
    }
  ],
  [
    'each part has its package URL, its licence and its checksum',
    async () => {
      for (const { name, purl, licenses = [], hashes = [] } of (await sbom()).components) {
        assert.match(purl, /^pkg:npm\/.+@\d/, name)
        assert.ok(licenses.length > 0, `${name} has a licence`)
        assert.ok(
          hashes.some(({ alg }) => alg === 'SHA-512'),
          `${name} has a checksum`
        )
      }
    }
  ]
]
