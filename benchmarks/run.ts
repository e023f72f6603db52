// CPU per request of every candidate, as a ratio to plain Fastify: `npm run bench -- --help` lists the options.
import { REST } from './rest.js'
import { runSuite } from './run-suite.js'

await runSuite(REST)
