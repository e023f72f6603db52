import type { CommandShape, Given } from './usage.js'

export interface Command {
  shape: CommandShape
  /**
   * What it needs is imported when it runs: wrong arguments and help are answered at once.
   * @returns the exit code
   */
  run(given: Given): Promise<number>
}

const ROUTES: CommandShape = {
  name: 'routes',
  summary: 'Shows the routes of an application with the middleware in front of each, and what is public.',
  argument: { name: 'apiDir', help: 'the directory of the route files; default: src/api, then api' },
  options: {
    match: { value: '"DELETE /users/me"', help: 'which route answers a request, and why the others do not' },
    unguarded: { help: 'only the methods that pass no middleware' },
    baseline: { value: 'FILE', help: 'with --unguarded: exit code 1 for a public method that FILE does not list' },
    json: { help: 'as JSON' },
    'base-route': { value: '/v1', help: 'the option baseRoute of the application; default: /api' }
  },
  examples: [
    'twinroute routes',
    'twinroute routes --match "DELETE /users/me"',
    'twinroute routes --unguarded > public-routes.txt',
    'twinroute routes --unguarded --baseline public-routes.txt'
  ]
}

export const COMMANDS: readonly Command[] = [
  { shape: ROUTES, run: async (given) => (await import('./routes-command.js')).runRoutes(given) }
]
