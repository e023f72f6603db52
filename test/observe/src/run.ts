// `npm run test:observe`: twinroute/observe with the packages it takes as optional peers.
import { register } from 'node:module'
import { finish, row } from './rows.js'

// they are installed here, and twinroute, which imports them, lies further up
register('./packages-here.js', import.meta.url)

const { metricsRows } = await import('./metrics-rows.js')
const { sheddingRows } = await import('./shedding-rows.js')
const { tracesRows } = await import('./traces-rows.js')
for (const [name, body] of [...metricsRows, ...sheddingRows, ...tracesRows]) await row(name, body)
process.exit(finish())
