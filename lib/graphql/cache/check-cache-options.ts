import {
  checkOptions,
  checkValue,
  COUNT,
  FUNCTION,
  hasMethods,
  isText,
  objectOf,
  SWITCH,
  type OptionRule,
  type OptionRules
} from '../../options/rules.js'
import { isRecord } from '../../options/values.js'
import { LONGEST_TIMEOUT } from '../../options/defaults.js'
import type { CachedField, ResultCacheOptions } from '../graphql-options.js'

const KEPT: OptionRule = { expected: 'milliseconds', accepts: (value) => typeof value === 'number' && value >= 0 }

const CACHE_RULES: OptionRules<ResultCacheOptions> = {
  fields: { expected: 'an object by Type.field', accepts: isRecord, required: true },
  ms: KEPT,
  scope: FUNCTION,
  store: {
    expected: 'an object with get, set, generation and bump',
    accepts: hasMethods('get', 'set', 'generation', 'bump')
  },
  loadTimeout: { expected: 'milliseconds, or 0 for no limit', accepts: isTimeout },
  maxEntries: COUNT,
  maxBytes: COUNT
}

const CACHED_FIELD: OptionRule = {
  ...objectOf<CachedField>({
    ms: KEPT,
    private: SWITCH,
    scope: FUNCTION,
    invalidatedBy: { expected: 'a list of Type.field', accepts: isTexts }
  }),
  required: true
}

/** @throws TypeError naming the wrong or unknown option of `createResultCache`, also of one of its fields */
export function checkCacheOptions(options: ResultCacheOptions): void {
  checkOptions('createResultCache', options, CACHE_RULES)
  for (const [name, field] of Object.entries(options.fields)) {
    checkValue('createResultCache', `fields["${name}"]`, field, CACHED_FIELD)
  }
}

export function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

/** As long as a timer can be set. */
export function isTimeout(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= LONGEST_TIMEOUT
}
