// A body and its answer, in two kinds of schemas: what the work "validated body" sends, refuses and gets back.
import { z } from 'zod'

export const orderSchema = z.object({
  customer: z.string().min(1).max(100),
  country: z.enum(['DE', 'FR', 'PL']),
  note: z.string().max(500).optional(),
  items: z.array(z.object({ sku: z.string().min(3), amount: z.int().min(1) })).min(1)
})

export type Order = z.infer<typeof orderSchema>

export const receiptSchema = z.object({ customer: z.string(), items: z.int() })

export function receiptOf({ customer, items }: Order): z.infer<typeof receiptSchema> {
  return { customer, items: items.length }
}

export const ORDER_JSON_SCHEMA = {
  type: 'object',
  required: ['customer', 'country', 'items'],
  properties: {
    customer: { type: 'string', minLength: 1, maxLength: 100 },
    country: { enum: ['DE', 'FR', 'PL'] },
    note: { type: 'string', maxLength: 500 },
    items: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['sku', 'amount'],
        properties: { sku: { type: 'string', minLength: 3 }, amount: { type: 'integer', minimum: 1 } }
      }
    }
  }
}

export const RECEIPT_JSON_SCHEMA = {
  type: 'object',
  required: ['customer', 'items'],
  properties: { customer: { type: 'string' }, items: { type: 'integer' } }
}

const items = Array.from({ length: 5 }, (_, index) => ({ sku: `sku-${index}`, amount: index + 1 }))

export const ORDER_TEXT = JSON.stringify({ customer: 'Ada', country: 'PL', note: 'By the door', items })
/** An amount that no schema takes. */
export const WRONG_ORDER_TEXT = JSON.stringify({ customer: 'Ada', country: 'PL', items: [{ sku: 'sku-0', amount: 0 }] })
