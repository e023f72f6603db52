// An application in a process of its own, for tests that end it. Arguments: the API directory, and the options as JSON.
// It does what the test's messages name, and tells the test how far it is.
import dns from 'node:dns'
import { type App, createApp } from 'twinroute'

const [apiDir, given = '{}'] = process.argv.slice(2)
const { addresses, apps = 1, ...options } = JSON.parse(given)
if (addresses !== undefined) nameLocalhost(addresses)

const defaults = {
  apiDir,
  port: 0,
  host: '127.0.0.1',
  mode: 'production',
  fastifyOptions: { logger: { level: 'warn' } }
}
const started = await Promise.all(Array.from({ length: apps }, startApp))

const commands: Record<string, () => unknown> = {
  close: async () => {
    await Promise.all(started.map(({ app }) => app.close()))
    process.send?.('closed')
    process.disconnect()
  },
  throw: () => setImmediate(() => raise('thrown outside of a request')),
  reject: () => void Promise.reject(new Error('rejected outside of a request'))
}
process.on('message', (command) => commands[String(command)]?.())
process.send?.({ addresses: started.map(({ address }) => address) })

async function startApp(): Promise<{ app: App; address: string }> {
  const app = await createApp({ ...defaults, ...options })
  app.addHook('preClose', async () => void process.send?.(app.isClosing ? 'closing' : 'closing without saying so'))
  app.addHook('onClose', async () => void process.send?.('onClose'))
  app.server.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n')
  })
  return { app, address: await app.start() }
}

function raise(message: string): never {
  throw new Error(message)
}

/** `localhost` is all of these addresses, as it is 127.0.0.1 and ::1 elsewhere. */
function nameLocalhost(addresses: readonly string[]): void {
  const resolver: any = dns
  const { lookup } = resolver
  const all = addresses.map((address) => ({ address, family: 4 }))
  resolver.lookup = (name: string, ...rest: any[]) => {
    const done = rest.at(-1)
    if (name !== 'localhost') lookup(name, ...rest)
    else if (rest[0]?.all) done(null, all)
    else done(null, addresses[0], 4)
  }
}
