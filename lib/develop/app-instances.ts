import { subscribe } from 'node:diagnostics_channel'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { AppServer } from './app-server.js'
import { ownership, type Owner } from './owner.js'

/** Milliseconds that requests have before the application that serves them begins to close, and says so by their signals. */
const QUIET_TIME = 1000

interface Instance {
  app: FastifyInstance
  owner: Owner
}

/** The Fastify instances that modules of the application have made, each until its module is evaluated again. */
export class AppInstances {
  #instances: Instance[] = []
  #servers: AppServer[] = []
  readonly #starting = new WeakSet<object>()

  /** Fastify tells of each instance, whichever copy of it makes it. */
  constructor() {
    subscribe('fastify.initialization', (message) => {
      const owner = ownership.getStore()
      if (owner !== undefined) this.#add((message as { fastify: FastifyInstance }).fastify, owner)
    })
  }

  #add(app: FastifyInstance, owner: Owner): void {
    this.#instances.push({ app, owner })
    const { listen } = app
    Object.assign(app, {
      listen: (...given: unknown[]): unknown => {
        this.#starting.add(app)
        return Reflect.apply(listen, app, given)
      }
    })
  }

  /** A server of one of them, or of none. */
  addServer(server: AppServer): void {
    this.#servers.push(server)
  }

  /** The modules that must be evaluated again to make an application: what they have made before cannot be made anew. */
  get owners(): string[] {
    return [...this.#instances, ...this.#servers].map(({ owner }) => owner.file)
  }

  /** The logs of what a module has made. */
  logsOf(owner: Owner): FastifyBaseLogger[] {
    return this.#instances.filter((one) => one.owner.generation === owner.generation).map(({ app }) => app.log)
  }

  /** Whether `listen` was called: it listens only when the application is ready. */
  isStarting(app: object): boolean {
    return this.#starting.has(app)
  }

  /** Takes out what is not of the present generation though its module is evaluated again, or what all there is. */
  take(isOld: (owner: Owner) => boolean): { apps: FastifyInstance[]; servers: AppServer[] } {
    const apps = this.#instances.filter(({ owner }) => isOld(owner)).map(({ app }) => app)
    const servers = this.#servers.filter(({ owner }) => isOld(owner))
    this.#instances = this.#instances.filter(({ owner }) => !isOld(owner))
    this.#servers = this.#servers.filter(({ owner }) => !isOld(owner))
    return { apps, servers }
  }
}

/**
 * Closes applications that another one has replaced: requests may end first, then event streams are told by the signals of
 * their requests, and the hooks run.
 */
export async function closeApps(
  { apps, servers }: ReturnType<AppInstances['take']>,
  tell: (error: unknown) => void
): Promise<void> {
  const empty = Promise.all(servers.map((server) => server.empty()))
  await Promise.race([empty, wait(QUIET_TIME, undefined, { ref: false })])
  const results = await Promise.allSettled(apps.map(async (app) => app.close()))
  for (const result of results) if (result.status === 'rejected') tell(result.reason)
  const others = servers.filter(({ isOpen }) => isOpen)
  for (const { server } of others) server.close()
}
