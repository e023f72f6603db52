import fastify, { type FastifyInstance } from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { portOf } from '../listening.js'
import { orderSchema, receiptOf, receiptSchema } from '../orders.js'
import { ITEMS, itemsSchema } from '../payloads.js'

/** Fastify whose schemas are zod's. */
export async function start(work: string): Promise<number> {
  const app = fastify({ requestTimeout: 60_000 })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  addRoute(app, work)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return portOf(app.server)
}

function addRoute(plain: FastifyInstance, work: string): void {
  const app = plain.withTypeProvider<ZodTypeProvider>()
  if (work === 'list') app.get('/api/items', { schema: { response: { 200: itemsSchema } } }, () => ITEMS)
  else
    app.post('/api/orders', { schema: { body: orderSchema, response: { 200: receiptSchema } } }, ({ body }) =>
      receiptOf(body)
    )
}
