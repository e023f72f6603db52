import { randomBytes } from 'node:crypto'
import { startProxy, type Proxy } from '../support/cuttable-proxy.js'
import { query } from '../support/example.js'
import { type Cluster, createCluster, noCluster } from '../support/postgres-cluster.js'
import { ask } from './ask.js'
import { ExampleServer } from './example-server.js'
import { tryOutage, type Outage, type Written } from './outage.js'
import { type Row, type Scope } from './row.js'
import { sharedPlace } from './shared-place.js'
import { noTmpfs, smallDisk } from './small-disk.js'

/** The time limit of a query in the example, and a little. */
const QUERY_LIMIT = 5500
const MARGIN = 1000

const PASSWORD = 'Correct-Horse-1'
/** The role of the application, which is no superuser: limits hold for it. */
const ROLE = 'app'
const REFUSING = `
  alter role ${ROLE} connection limit 0;
  select pg_terminate_backend(pid) from pg_stat_activity where usename = '${ROLE}'`

interface Place {
  cluster: Cluster
  proxy: Proxy
  server: ExampleServer
  /** The database of the application, for the superuser. */
  url: string
  write(): Promise<Written>
}

/** One server, one proxy and one process for all rows: it lives through all of them. */
const placeOf = sharedPlace(makePlace)

async function makePlace(scope: Scope): Promise<Place> {
  const cluster = await createCluster(scope)
  await cluster.start()
  await query(`create role ${ROLE} login`, cluster.url)
  return inDatabase(scope, cluster, { name: 'app' })
}

interface Where {
  name: string
  tablespace?: string
}

async function inDatabase(scope: Scope, cluster: Cluster, { name, tablespace = 'pg_default' }: Where): Promise<Place> {
  const proxy = await startProxy(scope, cluster.port)
  const url = cluster.url.replace(/postgres$/, name)
  await query(`create database ${name} owner ${ROLE} tablespace ${tablespace}`, cluster.url)
  const DATABASE_URL = `postgres://${ROLE}@127.0.0.1:${proxy.port}/${name}`
  const server = await ExampleServer.start(scope, { env: { DATABASE_URL } })
  const account = { name: 'Writer', email: 'writer@example.test', password: PASSWORD }
  const { body } = await ask(`${server.address}/api/users`, { body: account })
  const posts = `${server.address}/api/users/${body.data.id}/posts`
  // Each needs room of its own on a full disk: random text cannot be compressed.
  const write = async (): Promise<Written> => {
    const answer = await ask(posts, { body: { title: 'Kept', content: randomBytes(4000).toString('hex') } })
    return { answer, id: answer.status === 201 ? (answer.body.data.id as string) : undefined }
  }
  return { cluster, proxy, server, url, write }
}

type Fault = Partial<Outage> & Pick<Outage, 'begin' | 'end'>

function outageOf(fault: (place: Place) => Fault): Row['run'] {
  return async (trial) => tryOutage(trial, describeOutage(await placeOf(trial), fault))
}

function describeOutage(place: Place, fault: (place: Place) => Fault): Outage {
  const { server, url, write } = place
  return {
    server,
    write,
    bound: QUERY_LIMIT + MARGIN,
    isHealthy: async () => (await ask(`${server.address}/api/health`)).status === 200,
    lost: (accepted) => missingFrom(url, accepted),
    ...fault(place)
  }
}

async function missingFrom(url: string, accepted: readonly string[]): Promise<string[]> {
  const rows = (await query('select id from posts', url)) as { id: string }[]
  const stored = new Set(rows.map(({ id }) => id))
  return accepted.filter((id) => !stored.has(id))
}

const missing = noCluster

export const POSTGRES_ROWS: readonly Row[] = [
  {
    name: 'PostgreSQL is killed and started again',
    missing,
    run: outageOf(({ cluster }) => ({ begin: () => cluster.kill(), end: () => cluster.start(), bound: MARGIN }))
  },
  {
    name: 'PostgreSQL is restarted by its service',
    missing,
    run: outageOf(({ cluster }) => ({ begin: () => cluster.stop(), end: () => cluster.start(), bound: MARGIN }))
  },
  {
    name: 'PostgreSQL is paused',
    missing,
    run: outageOf(({ cluster }) => ({
      begin: () => cluster.signal('SIGSTOP'),
      end: () => cluster.signal('SIGCONT')
    }))
  },
  {
    name: 'PostgreSQL refuses connections, and has cut those it had',
    missing,
    run: outageOf(({ proxy }) => ({ begin: () => proxy.refuse(), end: () => proxy.listen(), bound: MARGIN }))
  },
  {
    name: 'the network to PostgreSQL forgets every connection',
    missing,
    run: outageOf(({ proxy }) => ({ begin: () => proxy.hang(), end: () => proxy.forget() }))
  },
  {
    name: 'PostgreSQL is slow',
    missing,
    run: outageOf(({ proxy }) => ({
      begin: () => proxy.slow(100),
      end: () => proxy.slow(0),
      refusals: 0
    }))
  },
  {
    name: 'every connection that PostgreSQL allows is used up',
    missing,
    run: outageOf(({ url }) => ({
      begin: async () => void (await query(REFUSING, url)),
      end: async () => void (await query(`alter role ${ROLE} connection limit -1`, url)),
      bound: MARGIN
    }))
  },
  {
    name: 'PostgreSQL takes no writes, as a standby does',
    missing,
    run: outageOf(({ url }) => ({
      begin: async () => void (await query(readOnly('on'), url)),
      end: async () => void (await query(readOnly('off'), url)),
      bound: MARGIN
    }))
  },
  {
    name: 'the disk of PostgreSQL is full',
    missing: () => noCluster() ?? noTmpfs(),
    async run(trial) {
      const { cluster } = await placeOf(trial)
      const disk = await smallDisk(trial.scope, '24m', 'postgres')
      await query(`create tablespace small location '${disk}'`, cluster.url)
      trial.scope.teardown(async () => {
        await query('drop database if exists full_app with (force)', cluster.url)
        await query('drop tablespace small', cluster.url)
      })
      const place = await inDatabase(trial.scope, cluster, { name: 'full_app', tablespace: 'small' })
      return tryOutage(
        trial,
        describeOutage(place, ({ url }) => ({
          begin: () => fill(url),
          end: async () => void (await query('drop table filler', url)),
          bound: MARGIN
        }))
      )
    }
  }
]

function readOnly(state: 'on' | 'off'): string {
  return `
    alter role ${ROLE} set default_transaction_read_only = ${state};
    select pg_terminate_backend(pid) from pg_stat_activity where usename = '${ROLE}'`
}

/** Writes until the disk takes no more. */
async function fill(url: string): Promise<void> {
  await query('create table if not exists filler (text text)', url)
  for (let rows = 1024; rows >= 1;) {
    try {
      await query(`insert into filler select repeat(md5(random()::text), 60) from generate_series(1, ${rows})`, url)
    } catch (error) {
      if ((error as { code?: string }).code !== '53100') throw error
      rows = Math.floor(rows / 4)
    }
  }
}
