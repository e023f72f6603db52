import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { createApp } from '../../../dist/index.js'
import { observe } from '../../../dist/observe.js'
import { parseAllDocuments } from 'yaml'
import { fileOf } from './page.js'
import { withProject } from './project.js'
import { runRows, type Row } from './rows.js'

const require = createRequire(import.meta.url)

interface Probe {
  httpGet: { path: string; port: string | number }
}

interface Container {
  ports: { name: string; containerPort: number }[]
  env: { name: string; value: string }[]
  resources: { limits: { memory: string } }
  startupProbe: Probe
  readinessProbe: Probe
  livenessProbe: Probe
}

/** What of the manifests is looked at here. */
interface Manifest {
  apiVersion: string
  kind: string
  spec: {
    selector: { matchLabels?: object } & object
    ports: { port: number; targetPort: string }[]
    template: {
      metadata: { labels: object; annotations: Record<string, string> }
      spec: { terminationGracePeriodSeconds: number; containers: Container[] }
    }
  }
}

function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    assert.deepEqual(document.errors, [])
    return document.toJS() as Manifest
  })
}

const manifests = (): Manifest[] => manifestsOf(fileOf('my-app.yaml'))

function only(kind: string): Manifest {
  const [found, ...more] = manifests().filter((manifest) => manifest.kind === kind)
  assert.ok(found !== undefined && more.length === 0, `one ${kind}`)
  return found
}

/** What the API of Kubernetes would say of values, and of keys that it does not know. */
function problemsOf(manifest: Manifest): string[] {
  const { apiVersion, kind } = manifest
  const models = require(`kubernetes-models/${apiVersion}`) as Record<
    string,
    new (data: object) => { validate: () => void }
  >
  const Model = models[kind]
  if (Model === undefined) return [`${apiVersion} has no ${kind}`]
  try {
    new Model(manifest).validate()
  } catch (error) {
    return [String(error)]
  }
  return unknownKeys(manifest)
}

/** A compiler refuses them in a literal of the type. */
function unknownKeys(manifest: Manifest): string[] {
  const { apiVersion, kind } = manifest
  const file = fileURLToPath(new URL('manifest.mts', import.meta.url))
  writeFileSync(
    file,
    `import type { I${kind} } from 'kubernetes-models/${apiVersion}'\nexport const it: I${kind} = ${JSON.stringify(manifest)}\n`
  )
  const options = { noEmit: true, strict: true, skipLibCheck: true, module: ts.ModuleKind.NodeNext, types: [] }
  const program = ts.createProgram([file], options)
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}

const ROWS: readonly Row[] = [
  [
    'Kubernetes: the manifests are what its API takes',
    () => {
      assert.deepEqual(
        manifests().map(({ kind }) => kind),
        ['Deployment', 'Service', 'PodDisruptionBudget']
      )
      for (const manifest of manifests()) assert.deepEqual(problemsOf(manifest), [], manifest.kind)
    }
  ],
  ...[
    ['replicas: 3', 'replicas: three'],
    ['readinessProbe:', 'readynessProbe:'],
    ['containerPort: 3000', 'containerPort: http']
  ].map(([right = '', wrong = '']): Row => [
    `Kubernetes: ${wrong} instead of ${right} is found`,
    () => {
      const [broken] = manifestsOf(fileOf('my-app.yaml').replace(right, wrong))
      assert.notDeepEqual(problemsOf(broken as Manifest), [])
    }
  ]),
  [
    'Kubernetes: labels, selectors and ports fit together, and to the Dockerfile',
    () => {
      const { spec } = only('Deployment')
      const { metadata } = spec.template
      assert.deepEqual(spec.selector.matchLabels, metadata.labels)
      assert.deepEqual(only('Service').spec.selector, metadata.labels)
      assert.deepEqual(only('PodDisruptionBudget').spec.selector.matchLabels, metadata.labels)
      const [container] = spec.template.spec.containers
      const [port] = container?.ports ?? []
      assert.equal(only('Service').spec.ports[0]?.targetPort, port?.name)
      assert.equal(/^EXPOSE (\d+)$/m.exec(fileOf('Dockerfile'))?.[1], String(port?.containerPort))
      assert.equal(metadata.annotations['prometheus.io/port'], String(port?.containerPort))
      for (const probe of [container?.startupProbe, container?.readinessProbe, container?.livenessProbe]) {
        assert.equal(probe?.httpGet.port, port?.name)
      }
    }
  ],
  [
    'Kubernetes: the heap of Node is 75 % of the memory limit, as the page says',
    () => {
      const [container] = only('Deployment').spec.template.spec.containers
      const { value = '' } = container?.env.find(({ name }) => name === 'NODE_OPTIONS') ?? {}
      assert.deepEqual([value, container?.resources.limits.memory], ['--max-old-space-size=384', '512Mi'])
    }
  ],
  [
    'Kubernetes: while an application closes it is not ready, and alive, for as long as the manifest lets it',
    () =>
      withProject(async ({ folder }) => {
        const { terminationGracePeriodSeconds, containers } = only('Deployment').spec.template.spec
        const { readinessProbe, livenessProbe, startupProbe } = containers[0] as Container
        const app = await createApp({
          apiDir: join(folder, 'dist/api'),
          mode: 'production',
          host: '127.0.0.1',
          port: 0,
          fastifyOptions: { logger: false },
          shutdown: { delay: 300, graceTime: 15_000 }
        })
        await app.register(observe, { metrics: false })
        const origin = await app.start()
        const ask = async ({ httpGet }: Probe): Promise<number> => (await fetch(origin + httpGet.path)).status
        assert.deepEqual(await Promise.all([readinessProbe, livenessProbe, startupProbe].map(ask)), [200, 200, 200])
        const closed = app.close()
        assert.deepEqual(await Promise.all([readinessProbe, livenessProbe].map(ask)), [503, 200])
        await closed
        // the page recommends a delay of 5 s and a graceTime of 15 s, and the end takes 2 s at most
        assert.ok(terminationGracePeriodSeconds > 5 + 15 + 2)
      })
  ]
]

export async function tryKubernetes(): Promise<void> {
  await runRows(ROWS)
}
