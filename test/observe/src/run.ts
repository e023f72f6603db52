// `npm run test:observe`: twinroute/observe with the packages it takes as optional peers, the recipe of OpenTelemetry, and the
// dashboard for Grafana.
import { register } from 'node:module'
import { finish, row } from './rows.js'

// they are installed here, and twinroute, which imports them, lies further up
register('./packages-here.js', import.meta.url)

const { metricsRows } = await import('./metrics-rows.js')
const { sheddingRows } = await import('./shedding-rows.js')
const { dashboardRows } = await import('./dashboard-rows.js')
const { tracesRows } = await import('./traces-rows.js')
const { spansRows } = await import('./spans-rows.js') // the last: from its first row on, all apps of this process are traced
for (const [name, body] of [...metricsRows, ...sheddingRows, ...dashboardRows, ...tracesRows, ...spansRows]) {
  await row(name, body)
}
process.exit(finish())
