// Read from the repository's root: `npm install --no-save drizzle-kit@0.31`, then
// `npx drizzle-kit generate --config routes-example/drizzle.config.ts`.
export default {
  dialect: 'postgresql',
  schema: './routes-example/src/database/schema.ts',
  out: './routes-example/migrations'
}
