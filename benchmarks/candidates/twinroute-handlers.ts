// Imported by the route files that candidates write into a temporary directory, from which no package is found.
import { defineHandler } from 'twinroute'
import { validate } from 'twinroute/http'
import { ORDER_JSON_SCHEMA, orderSchema, RECEIPT_JSON_SCHEMA, receiptOf, receiptSchema, type Order } from '../orders.js'
import { ITEMS, ITEMS_SCHEMA, itemsSchema } from '../payloads.js'

export const checkOrder = validate(orderSchema)

export const zod = {
  order: defineHandler({ body: orderSchema, response: receiptSchema }, ({ body }) => receiptOf(body)),
  items: defineHandler({ response: itemsSchema }, () => ITEMS)
}

export const jsonSchema = {
  order: defineHandler({ body: ORDER_JSON_SCHEMA, response: RECEIPT_JSON_SCHEMA }, ({ body }) =>
    receiptOf(body as Order)
  ),
  items: defineHandler({ response: ITEMS_SCHEMA }, () => ITEMS)
}
