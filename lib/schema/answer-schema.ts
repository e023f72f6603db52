import type { JsonSchema, RouteSchema } from '../contract/typed-handler.js'
import { createOutputCheck, type Check } from './check.js'
import { describeNow, isBinarySchema } from './describe.js'
import { compileSerialiser } from './json-schema.js'
import { isPlainZod } from './plain-zod.js'
import { isStandardSchema, vendorOf } from './schema-kinds.js'

/** The JSON text of a value, with what its schema names. */
export type Serialise = (value: unknown) => string

/** What is done with the answers of one status. */
export class AnswerSchema {
  /** Checks a value and drops what the schema does not name. */
  readonly check: Check
  readonly #schema: RouteSchema
  #serialise: Serialise | undefined
  #isBinary: boolean | undefined
  #isPlanned = false

  /** @throws Error for a JSON Schema that cannot be compiled */
  constructor(schema: RouteSchema) {
    this.#schema = schema
    this.check = createOutputCheck(schema)
    if (!isStandardSchema(schema)) this.#plan(compileSerialiser(schema))
  }

  /**
   * Where it gives the text that check and JSON would give, and without the check: for JSON Schema, and for zod where it is
   * proved. Made for the first answer, since it takes about as long as a whole request.
   */
  get serialise(): Serialise | undefined {
    if (!this.#isPlanned) this.#plan(isPlainZod(this.#schema) ? compileDescribed(this.#schema) : undefined)
    return this.#serialise
  }

  /** Whether streams and bytes are sent as they are. */
  get isBinary(): boolean {
    return (this.#isBinary ??= isBinarySchema(this.#schema))
  }

  #plan(serialise: Serialise | undefined): void {
    this.#serialise = serialise
    this.#isPlanned = true
  }
}

/** undefined where zod or the compiler has grown a case that the proof does not know. */
function compileDescribed(schema: RouteSchema): Serialise | undefined {
  try {
    const described: JsonSchema = describeNow(schema, { side: 'output', draft: 'draft-07' })
    return vendorOf(schema) === 'zod' ? compileSerialiser(described) : undefined
  } catch {
    return undefined
  }
}
