import type { JsonSchema, RouteSchema } from '../contract/typed-handler.js'
import type { BootProblem } from '../errors/boot-error.js'
import { displayPath } from '../errors/boot-error.js'
import { describeSchema, type Side } from '../schema/describe.js'

/** Where a schema is written. */
export interface SchemaPlace {
  /** `POST` */
  readonly method: string
  /** Absolute path of the route file. */
  readonly file: string
}

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
      const { method, file } = place
      this.problems.push({
        code: 'OPENAPI_SCHEMA_UNDESCRIBED',
        message: `${method} of ${displayPath(file)} has ${part}, which the document cannot describe`,
        files: [file],
        fix: 'Use types that JSON has, or hidden: true to leave the route out of the document',
        cause
      })
      return undefined
    }
  }
}
