import type { CommandShape, Given, OptionShape } from './usage.js'

export interface Command {
  shape: CommandShape
  /** It starts a program, which from then on has the process and its output. Default false: it prints an answer. */
  isProgram?: true
  /**
   * What it needs is imported when it runs: wrong arguments and help are answered at once.
   * @returns the exit code; undefined when the process goes on
   */
  run(given: Given): Promise<number | undefined>
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

const BUILD: CommandShape = {
  name: 'build',
  summary: 'Checks the types of an application, and writes it as one JavaScript file that node runs.',
  argument: {
    name: 'entry',
    help: 'the file that starts it; default: src/server.ts, then server.ts, then the same in .js'
  },
  options: {
    out: {
      value: 'FOLDER',
      help: 'where it is written; default: dist beside package.json. All that is there is replaced'
    },
    bundle: { help: 'puts the packages into the file too, but for those with a native part' },
    'no-check': { help: 'does not check the types' }
  },
  examples: ['twinroute build', 'twinroute build src/main.ts --out release', 'twinroute build --bundle']
}

const START: CommandShape = {
  name: 'start',
  summary: 'Runs what twinroute build has written, in production mode unless NODE_ENV says otherwise.',
  argument: { name: 'folder', help: 'where it was written; default: dist' },
  options: {},
  examples: ['twinroute start', 'PORT=3000 HOST=0.0.0.0 twinroute start', 'twinroute start release']
}

const DEV: CommandShape = {
  name: 'dev',
  summary: 'Runs the application and loads it again after every change.',
  argument: { name: 'entry', help: 'the program that starts it; default: src/server.ts, then server.ts, then .js' },
  options: {
    inspect: { help: 'opens the port of the debugger' },
    'inspect-port': { value: '[HOST:]PORT', help: 'the same at another address than 127.0.0.1:9229' }
  },
  examples: ['twinroute dev', 'twinroute dev src/main.ts', 'PORT=8080 twinroute dev', 'twinroute dev --inspect']
}

export const COMMANDS: readonly Command[] = [
  { shape: DEV, isProgram: true, run: async (given) => (await import('./dev-command.js')).runDev(given) },
  { shape: BUILD, run: async (given) => (await import('./build-command.js')).runBuild(given) },
  { shape: START, isProgram: true, run: async (given) => (await import('./start-command.js')).runStart(given) },
  { shape: ROUTES, run: async (given) => (await import('./routes-command.js')).runRoutes(given) },
  { shape: TYPES, run: async (given) => (await import('./types-command.js')).runTypes(given) },
  { shape: OPENAPI, run: async (given) => (await import('./openapi-command.js')).runOpenapi(given) }
]
