// Read by `npx drizzle-kit@0.31 generate --config routes-example/drizzle.config.js`, run from the repository's root.
export default {
  dialect: 'postgresql',
  schema: './routes-example/src/database/schema.ts',
  out: './routes-example/migrations'
}
