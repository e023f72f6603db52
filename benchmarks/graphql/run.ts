// CPU per GraphQL request, as a ratio to plain Mercurius: `npm run bench:graphql -- --help` lists the options.
import { runSuite } from '../run-suite.js'
import { QUERIES } from './queries.js'

await runSuite({
  name: 'graphql',
  command: 'bench:graphql',
  yardstick: 'mercurius',
  yardstickTitle: 'plain Mercurius',
  works: QUERIES,
  defaults: { launches: 4, rounds: 5, amount: 1500, warmup: 24_000 },
  candidates: [
    { name: 'mercurius', module: 'graphql/candidates/mercurius', export: 'start' },
    { name: 'mercurius (again)', module: 'graphql/candidates/mercurius', export: 'start' },
    { name: 'mercurius jit', module: 'graphql/candidates/mercurius', export: 'withJit' },
    { name: 'twinroute', module: 'graphql/candidates/twinroute', export: 'start' },
    { name: 'twinroute jit', module: 'graphql/candidates/twinroute', export: 'withJit' },
    { name: 'apollo server 5', module: 'graphql/candidates/apollo', export: 'start' },
    { name: 'graphql yoga 5', module: 'graphql/candidates/yoga', export: 'start' }
  ]
})
