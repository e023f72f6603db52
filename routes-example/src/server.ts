import { createExample } from './app.js'
import { loadDotEnv, readConfig } from './config.js'

try {
  loadDotEnv()
  const app = await createExample(readConfig(process.env))
  await app.start()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
