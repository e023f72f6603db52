import { spawnSync } from 'node:child_process'

export interface MountingOptions {
  /** Of the script: `"$@"`. */
  args?: readonly string[]
  cwd?: string
  env?: NodeJS.ProcessEnv
}

/** Runs a shell script that may mount other file systems, which no other process sees. */
export function runMounting(script: string, { args = [], ...options }: MountingOptions = {}) {
  return spawnSync('unshare', ['--mount', '--map-root-user', 'sh', '-c', script, 'sh', ...args], {
    ...options,
    encoding: 'utf8'
  })
}

/** Why none can be mounted here; undefined where they can. */
export function cannotMount(): string | undefined {
  return runMounting('mount -t tmpfs tmpfs /mnt').status === 0 ? undefined : 'no file system can be mounted here'
}
