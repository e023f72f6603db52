import type { BootProblem } from '../errors/boot-error.js'
import type { Paths } from './file-paths.js'

/**
 * Gives each operation without an id one that is made of its method and path: `getApiUsersByUserId` of GET
 * `/api/users/{userId}`. Other routes change it only where they would have the same one; the later path then gets a number.
 */
export function withOperationIds(paths: Readonly<Paths>): Paths {
  const given = Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId))
  const taken = new Set(given)
  const named = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, operation]) => {
      if (operation['operationId'] !== undefined) return [method, operation] as const
      const operationId = freeId(method + wordsOf(path), taken)
      taken.add(operationId)
      return [method, { operationId, ...operation }] as const
    })
    return [path, Object.fromEntries(operations)] as const
  })
  return Object.fromEntries(named)
}

function freeId(wanted: string, taken: ReadonlySet<unknown>): string {
  for (let number = 1; ; number++) {
    const id = number === 1 ? wanted : `${wanted}${number}`
    if (!taken.has(id)) return id
  }
}

/** `/api/users/{userId}` as `ApiUsersByUserId`, in letters and digits that every language has in its names. */
function wordsOf(path: string): string {
  const words = decodeURIComponent(path)
    .replaceAll('{', '-by-')
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .split(/[^A-Za-z0-9]+/)
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('') || 'Root'
}

/** Ids that are given twice: generated clients name functions by them. */
export function findSameIds(paths: Readonly<Paths>): BootProblem[] {
  const places = new Map<string, string>()
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { operationId }]) => {
      if (typeof operationId !== 'string') return []
      const place = `${method.toUpperCase()} ${path}`
      const other = places.get(operationId)
      places.set(operationId, place)
      return other === undefined ? [] : sameId(operationId, other, place)
    })
  )
}

function sameId(id: string, one: string, other: string): BootProblem {
  return {
    code: 'OPENAPI_OPERATION_ID_TWICE',
    message: `${one} and ${other} have the operationId ${id}`,
    files: [],
    fix: 'Give each operation an operationId of its own'
  }
}
