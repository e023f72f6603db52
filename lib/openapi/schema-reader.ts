import type { JsonSchema, RouteSchema } from '../contract/typed-handler.js'
import type { BootProblem } from '../errors/boot-error.js'
import { describeSchema, type Side } from '../schema/describe.js'

/** Where a schema is written. */
export interface SchemaPlace {
  /** `POST of api/notes/route.ts`, or `POST /notes` of a route that comes from no file. */
  readonly route: string
  /** Absolute path of the route file, if there is one. */
  readonly files: readonly string[]
}

const FIX =
  'Use types that JSON has, say what it is on the wire (zod: .meta({ type: "string" })), or leave the route out of the ' +
  'document by hidden: true (hide: true in the schema of a Fastify route)'

/** Describes the schemas of all routes, and keeps what is wrong with them. */
export class SchemaReader {
  readonly problems: BootProblem[] = []

  /**
   * The schema as JSON Schema; undefined, and a problem, where its library cannot describe it.
   * @param part of the definition: `response[201]`
   */
  async read(schema: RouteSchema, side: Side, place: SchemaPlace, part: string): Promise<JsonSchema | undefined> {
    try {
      return await describeSchema(schema, { side })
    } catch (cause) {
      this.problems.push({
        code: 'OPENAPI_SCHEMA_UNDESCRIBED',
        message: `${place.route} has ${part}, which the document cannot describe`,
        files: place.files,
        fix: FIX,
        cause
      })
      return undefined
    }
  }
}
