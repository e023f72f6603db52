import type DataLoader from 'dataloader'
import type { GraphQLResolveInfo } from 'graphql'
import { checkOptions, FUNCTION } from '../options/rules.js'
import { requireDataLoader } from './peers.js'

/** Values in the order of the keys, or by key. A missing value is null; an Error fails the fields that asked for it. */
export type Batch<Key, Value> =
  | readonly (Value | Error | null | undefined)[]
  | ReadonlyMap<Key, Value | Error | null | undefined>

/** Loads many values at once. `context` is that of the request the keys come from. */
export type LoadMany<Key, Value, Context> = (
  keys: readonly Key[],
  context: Context
) => Batch<Key, Value> | Promise<Batch<Key, Value>>

export type BatchResolver<Source, Value, Context> = (
  source: Source,
  args: unknown,
  context: Context,
  info: GraphQLResolveInfo
) => Promise<Value | null> | null

const RULES = { keyOf: { ...FUNCTION, required: true }, loadMany: { ...FUNCTION, required: true } }

/**
 * A resolver that loads in batches: all keys that one request asks for at a time go to one call of `loadMany`, each once.
 * A parent whose key is null or undefined resolves to null. Values are kept for the request, or in mutations, where a
 * later field may read what an earlier one has changed, only for the batch.
 *
 * Needs the package `dataloader`, an optional peer: `npm install dataloader@2`.
 *
 * @throws TypeError naming the one of the two that is no function
 * @throws BootError (`PACKAGE_NOT_INSTALLED`) without the package
 * @example author: batch((post: Post) => post.authorId, (ids) => findUsersByIds(ids))
 */
export function batch<Source, Key, Value, Context extends object = object>(
  keyOf: (source: Source) => Key | null | undefined,
  loadMany: LoadMany<Key, Value, Context>
): BatchResolver<Source, Value, Context> {
  checkOptions('batch', { keyOf, loadMany }, RULES)
  const Loader = requireDataLoader()
  const loaders = new WeakMap<Context, DataLoader<Key, Value | null>>()
  return (source, _args, context, { operation }) => {
    const key = keyOf(source)
    if (key === null || key === undefined) return null
    let loader = loaders.get(context)
    if (loader === undefined) {
      loader = createLoader(Loader, { loadMany, context, kind: operation.operation })
      loaders.set(context, loader)
    }
    return loader.load(key)
  }
}

interface Loading<Key, Value, Context> {
  loadMany: LoadMany<Key, Value, Context>
  context: Context
  kind: string
}

function createLoader<Key, Value, Context>(
  Loader: typeof DataLoader,
  { loadMany, context, kind }: Loading<Key, Value, Context>
): DataLoader<Key, Value | null> {
  const loader = new Loader<Key, Value | null>(async (keys) => {
    if (kind === 'mutation') loader.clearAll()
    return valuesInKeyOrder(keys, await loadMany(keys, context))
  })
  return loader
}

function valuesInKeyOrder<Key, Value>(keys: readonly Key[], values: Batch<Key, Value>): (Value | Error | null)[] {
  if (values instanceof Map) return keys.map((key) => (values as ReadonlyMap<Key, Value>).get(key) ?? null)
  const list = values as readonly (Value | Error | null | undefined)[]
  if (Array.isArray(values) && list.length === keys.length) return list.map((value) => value ?? null)
  const given = Array.isArray(values) ? `${list.length} values` : 'neither a list nor a Map'
  throw new TypeError(`batch: loadMany was asked for ${keys.length} keys and gave ${given}`)
}
