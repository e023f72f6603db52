import * as all from 'twinroute/express'
const app = all.default()
app.use(all.json(), all.Router())
