import type { JsonSchema } from '../contract/typed-handler.js'

/** A body as the document describes it. */
export interface DescribedBody {
  readonly type: string
  readonly schema: JsonSchema
}

/** A Response Object of OpenAPI. */
export interface ResponseObject {
  readonly description: string
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>
}

/** A status, or all statuses of a class that are not named. */
export type ResponseKey = number | '4XX' | '5XX'

interface Answer {
  readonly description: string
  /** Empty for no body. */
  readonly bodies: readonly DescribedBody[]
}

/** The answers of an operation: its own, and those of all that runs before it. */
export class Responses {
  readonly #byStatus = new Map<ResponseKey, Answer[]>()

  add(status: ResponseKey, description: string, bodies: readonly DescribedBody[]): void {
    this.#byStatus.set(status, [...(this.#byStatus.get(status) ?? []), { description, bodies }])
  }

  /** By status, the lowest first: objects have whole numbers before other keys. */
  toObjects(): Record<string, ResponseObject> {
    return Object.fromEntries([...this.#byStatus].map(([status, answers]) => [status, toObject(answers)]))
  }
}

/** Several answers of one status are described as one. */
function toObject(answers: readonly Answer[]): ResponseObject {
  const description = [...new Set(answers.map((answer) => answer.description))].join('; ')
  const bodies = answers.flatMap(({ bodies }) => bodies)
  if (bodies.length === 0) return { description }
  const types = [...new Set(bodies.map(({ type }) => type))]
  const content = types.map((type) => {
    const schemas = bodies.filter((body) => body.type === type).map(({ schema }) => schema)
    return [type, { schema: eitherOf(schemas) }] as const
  })
  return { description, content: Object.fromEntries(content) }
}

function eitherOf(schemas: readonly JsonSchema[]): JsonSchema {
  const different = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]))
  const [first = {}] = schemas
  return different.size === 1 ? first : { anyOf: [...different.values()] }
}
