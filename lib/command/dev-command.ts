import { develop } from '../dev.js'
import { findEntry } from './entry.js'
import { CommandError, type Given } from './usage.js'

/** @returns the exit code, when it was ended by a signal, or cannot start as it is called */
export async function runDev({ argument, values, switches }: Given): Promise<number> {
  const entry = findEntry('dev', argument)
  return develop({ entry, execArgv: [...process.execArgv, ...inspectOptions(values['inspect-port'], switches)] })
}

function inspectOptions(address: string | undefined, switches: ReadonlySet<string>): string[] {
  if (address === undefined) return switches.has('inspect') ? ['--inspect'] : []
  const [, port] = /^(?:.+:)?(\d{1,5})$/.exec(address) ?? []
  if (port !== undefined && isInspectorPort(Number(port))) return [`--inspect=${address}`]
  throw new CommandError(
    `--inspect-port takes a port from 1024 to 65535, or 0 for any free one, not ${JSON.stringify(address)}\n` +
      'Write it so: --inspect-port 9230, or with a host: --inspect-port 127.0.0.1:9230'
  )
}

/** Node takes no others. */
function isInspectorPort(port: number): boolean {
  return port === 0 || (port >= 1024 && port <= 65535)
}
