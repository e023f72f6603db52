import { validate } from 'twinroute/http'
import { orderSchema } from '../orders.js'

/** Imported by the route file that the candidate writes into a temporary directory, from which no package is found. */
export const checkOrder = validate(orderSchema)
