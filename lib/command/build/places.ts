import { readFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { isWithin, packageFolder, type Project } from './project.js'

/** Files of other packages that are built in have their places below this folder of the output. */
const PACKAGES = '_packages'

/** Where something that a source file names will be, seen from the output folder: `./templates/mail.html`. */
export interface Place {
  path: string
  /** False: it stays where it is, and the path leads out of the output. */
  isInside: boolean
}

/**
 * The built program is one file, but a source file that asks where it is (`import.meta.url`) gets the place that it would
 * have beside the others: `src/mail/mail.ts` is `dist/mail/mail.js`. So what it finds from there is found.
 */
export function placeOf(path: string, module: string, { source, folder, output }: Project): Place {
  if (isWithin(source, path)) return inside(relative(source, path))
  const other = packageFolder(module)
  if (other !== undefined && other !== folder && isWithin(other, path)) {
    return inside(join(PACKAGES, packageName(other), relative(other, path)))
  }
  return { path: slashes(relative(output, path)), isInside: false }
}

function inside(path: string): Place {
  return { path: `./${slashes(path)}`, isInside: true }
}

function packageName(folder: string): string {
  try {
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: string }
    return name ?? basename(folder)
  } catch {
    return basename(folder)
  }
}

/** A path as `new URL` takes it: there `#` and `?` would end it. */
export function urlOf(path: string): string {
  return encodeURI(path).replaceAll(/[#?]/g, encodeURIComponent)
}

/** `mail.ts` is `mail.js` when it is built, `mail.mts` is `mail.mjs`. */
export function compiledName(path: string): string {
  return path.replace(/\.([mc]?)tsx?$/, '.$1js')
}

function slashes(path: string): string {
  return path.split(sep).join('/')
}

/** The name of a program in the output that is no entry of its own: `jobs/resize.ts` is `jobs-resize`. */
export function programName({ path }: Place): string {
  const way = join(dirname(path), basename(path).replace(/\.[mc]?[jt]sx?$/, ''))
  return slashes(way)
    .split('/')
    .filter((name) => name !== '..' && name !== '.')
    .join('-')
}
