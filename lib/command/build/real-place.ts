import { existsSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { CommandError } from '../usage.js'

/** As many as systems follow. */
const MOST_LINKS = 40

/**
 * Where a path leads behind links, on the way and at its end, also to what is not there yet: links stay, and what is built is
 * found from its real place, as Node finds it.
 *
 * @throws CommandError when links lead round in a circle
 */
export function realPlace(path: string, links = 0): string {
  if (existsSync(path)) return realpathSync(path)
  const parent = dirname(path)
  if (parent === path) return path
  const place = realPlace(parent, links)
  const target = linkAt(path)
  if (target === undefined) return join(place, basename(path))
  if (links === MOST_LINKS)
    throw new CommandError(`${path} is a link that leads nowhere\nRemove it, or name another folder`)
  return realPlace(resolve(place, target), links + 1)
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
