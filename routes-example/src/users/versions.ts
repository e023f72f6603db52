import { z } from 'zod'
import { wrapped } from '../answers.js'

/** The answer of version 1, or what version 2 makes of it. */
export function bothVersions<Data extends z.ZodType, Body extends z.ZodObject<{ data: Data }>>(version1: Body) {
  return z.union([version1, wrapped(version1.shape.data)])
}
