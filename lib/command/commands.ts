import type { CommandShape, Given, OptionShape } from './usage.js'

export interface Command {
  shape: CommandShape
  /**
   * What it needs is imported when it runs: wrong arguments and help are answered at once.
   * @returns the exit code
   */
  run(given: Given): Promise<number>
}

const BASE_ROUTE: OptionShape = { value: '/v1', help: 'the option baseRoute of the application; default: /api' }

const ROUTES: CommandShape = {
  name: 'routes',
  summary: 'Shows the routes of an application with the middleware in front of each, and what is public.',
  argument: { name: 'apiDir', help: 'the directory of the route files; default: src/api, then api' },
  options: {
    match: { value: '"DELETE /users/me"', help: 'which route answers a request, and why the others do not' },
    unguarded: { help: 'only the methods that pass no middleware' },
    baseline: { value: 'FILE', help: 'with --unguarded: exit code 1 for a public method that FILE does not list' },
    json: { help: 'as JSON' },
    'base-route': BASE_ROUTE
  },
  examples: [
    'twinroute routes',
    'twinroute routes --match "DELETE /users/me"',
    'twinroute routes --unguarded > public-routes.txt',
    'twinroute routes --unguarded --baseline public-routes.txt'
  ]
}

const TYPES: CommandShape = {
  name: 'types',
  summary: 'Writes the types of the routes, for createClient of twinroute/client.',
  argument: ROUTES.argument,
  options: {
    output: { value: 'FILE', help: 'where they are written; default: .twinroute/routes.d.ts' },
    check: { help: 'writes nothing; exit code 1 when the file is not what would be written' },
    'base-route': BASE_ROUTE
  },
  examples: ['twinroute types', 'twinroute types dist/api --output web/src/routes.d.ts', 'twinroute types --check']
}

const OPENAPI: CommandShape = {
  name: 'openapi',
  summary: 'Writes the OpenAPI 3.1 document of an application, or compares it with a file.',
  argument: ROUTES.argument,
  options: {
    output: { value: 'FILE', help: 'where it is written; default: the standard output' },
    check: { help: 'with --output: writes nothing; exit code 1 when FILE is not the document' },
    'base-route': BASE_ROUTE
  },
  examples: [
    'twinroute openapi > openapi.json',
    'twinroute openapi --output openapi.json',
    'twinroute openapi --output openapi.json --check'
  ]
}

export const COMMANDS: readonly Command[] = [
  { shape: ROUTES, run: async (given) => (await import('./routes-command.js')).runRoutes(given) },
  { shape: TYPES, run: async (given) => (await import('./types-command.js')).runTypes(given) },
  { shape: OPENAPI, run: async (given) => (await import('./openapi-command.js')).runOpenapi(given) }
]
