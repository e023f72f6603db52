import assert from 'node:assert/strict'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { ApiDocument } from './example-app.js'
import type { Row } from './rows.js'

/** Rows about the document alone: the official schema of OpenAPI 3.1, and a linter with the rules it recommends. */
export function strictRows(document: ApiDocument): Row[] {
  const broken = structuredClone(document)
  Object.assign(broken.paths['/api/health']?.['get'] as object, { responses: { ok: {} } })
  const careless = structuredClone(document)
  Reflect.deleteProperty(careless.paths['/api/health']?.['get'] as object, 'summary')
  return [
    {
      rule: 'it is valid by the schema of OpenAPI 3.1',
      check: async () => assert.deepEqual(await faultsOf(document), [])
    },
    { rule: 'a status that is none is found', check: async () => assert.notDeepEqual(await faultsOf(broken), []) },
    { rule: 'the linter has nothing to say', check: async () => assert.deepEqual(await lint(document), []) },
    {
      rule: 'the linter misses a summary that is taken away',
      check: async () => assert.match((await lint(careless)).join('\n'), /operation-summary/)
    }
  ]
}

async function faultsOf(document: ApiDocument): Promise<unknown[]> {
  const { valid, errors } = await new Validator().validate(
    structuredClone(document) as object as Record<string, unknown>
  )
  return valid ? [] : [errors].flat()
}

async function lint(document: ApiDocument): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  return problems.map(({ ruleId, severity, message, location }) => {
    return `${severity} ${ruleId} at ${location.map(({ pointer }) => pointer).join(' ')}: ${message}`
  })
}
