import fastify from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { portOf } from '../listening.js'
import { orderSchema } from '../orders.js'

/** Fastify whose schemas are zod's. */
export async function start(): Promise<number> {
  const app = fastify({ requestTimeout: 60_000 }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.post('/api/orders', { schema: { body: orderSchema } }, ({ body }) => ({
    customer: body.customer,
    items: body.items.length
  }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return portOf(app.server)
}
