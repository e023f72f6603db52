import type { JsonSchema } from '../contract/typed-handler.js'

/** What `errorHandler` answers. */
export const ENVELOPE: JsonSchema = {
  type: 'object',
  required: ['error', 'meta'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', description: 'What programs tell errors apart by, such as NOT_FOUND' },
        message: { type: 'string', description: 'A sentence for people' },
        details: { description: 'What is wrong in particular; of an invalid request, a list of { field, message }' }
      }
    },
    meta: {
      type: 'object',
      required: ['timestamp'],
      properties: {
        timestamp: { type: 'string', format: 'date-time' },
        requestId: { type: 'string' },
        stack: { type: 'string', description: 'Never in production' }
      }
    }
  }
}

/** What middleware answers in the flat form. */
export const FLAT_ERROR: JsonSchema = {
  type: 'object',
  required: ['error', 'message'],
  properties: {
    error: { type: 'string', description: 'What programs tell errors apart by, such as TOKEN_EXPIRED' },
    message: { type: 'string', description: 'A sentence for people' }
  }
}
