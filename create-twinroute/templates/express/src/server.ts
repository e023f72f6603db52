import { app } from './app.js'

const server = app.listen(Number(process.env.PORT || 5000), () => {
  console.log(`http://localhost:${process.env.PORT || 5000}/hello/you`)
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close())
