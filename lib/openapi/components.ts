import type { DescribedErrorForm, SecurityScheme } from '../contract/middleware-description.js'
import type { JsonSchema } from '../contract/typed-handler.js'
import { isRecord } from '../options/values.js'
import type { Side } from '../schema/describe.js'
import { ENVELOPE, FLAT_ERROR } from './error-schemas.js'
import { closureOf, definitionsOf, idsIn, refersToItself, rewriteSchema, type Rewriting } from './schema-references.js'

/** `#/components/schemas/Note` */
export type Reference = { readonly $ref: string }

/** The parts of a document that are named once and used in many places. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {}
  readonly securitySchemes: Record<string, SecurityScheme> = {}
  /** Of each schema by its name: what it was made of. */
  readonly #sources = new Map<string, string>([
    ['Error', 'Error'],
    ['FlatError', 'FlatError']
  ])
  readonly #errorSchema: JsonSchema

  /** @param errorSchema of what the error handler answers */
  constructor(errorSchema: JsonSchema | undefined) {
    this.#errorSchema = errorSchema === undefined ? ENVELOPE : this.place(errorSchema, 'output')
  }

  /** Without a form: that of errors which are thrown. */
  error(form: DescribedErrorForm | undefined): Reference {
    if (form === 'flat') this.schemas['FlatError'] ??= FLAT_ERROR
    else if (form === 'nested' && this.#errorSchema !== ENVELOPE) return this.#named('NestedError', ENVELOPE)
    else this.schemas['Error'] ??= this.#errorSchema
    return referTo(form === 'flat' ? 'FlatError' : 'Error')
  }

  /** False where the name has another meaning already. */
  addScheme(name: string, scheme: SecurityScheme): boolean {
    const known = (this.securitySchemes[name] ??= scheme)
    return JSON.stringify(known) === JSON.stringify(scheme)
  }

  /**
   * A schema as it stands in the document: its definitions are components, since its references would else lead to the top
   * of the document; a schema with a name is a component itself.
   */
  place(schema: JsonSchema, side: Side): JsonSchema {
    const definitions = definitionsOf(schema)
    const names = new Map<string, string>()
    const rewriting: Rewriting = { names, root: undefined, ids: new Map() }
    const claimed = Object.keys(definitions).map((key) => {
      const claim = this.#claim(key, closureOf(key, definitions), side)
      names.set(key, claim.name)
      return { ...claim, schema: definitions[key] }
    })
    for (const { id, schema: inner } of idsIn(schema)) {
      const claim = this.#claim(id, JSON.stringify(inner), side)
      rewriting.ids.set(id, claim.name)
      claimed.push({ ...claim, schema: inner })
    }
    const own = nameOf(schema) ?? (refersToItself(schema) ? 'Schema' : undefined)
    if (own !== undefined) {
      const claim = this.#claim(own, JSON.stringify(schema), side)
      rewriting.root = claim.name
      claimed.push({ ...claim, schema })
    }
    for (const { name, isNew, schema: inner } of claimed)
      if (isNew && inner !== undefined) this.schemas[name] = rewriteSchema(inner, rewriting, 'root')
    return rewriting.root === undefined ? rewriteSchema(schema, rewriting, 'root') : referTo(rewriting.root)
  }

  #named(name: string, schema: JsonSchema): Reference {
    this.#sources.set(name, name)
    this.schemas[name] ??= schema
    return referTo(name)
  }

  /** A name that nothing else has; the same again for the same schema. */
  #claim(wanted: string, source: string, side: Side): { name: string; isNew: boolean } {
    const plain = wanted.replaceAll(/[^\w.-]/g, '_')
    const onSide = `${plain}${side === 'input' ? 'Input' : 'Output'}`
    for (let attempt = 0; ; attempt++) {
      const name = attempt === 0 ? plain : attempt === 1 ? onSide : `${plain}${attempt}`
      const known = this.#sources.get(name)
      if (known === source) return { name, isNew: false }
      if (known !== undefined) continue
      this.#sources.set(name, source)
      return { name, isNew: true }
    }
  }
}

function referTo(name: string): Reference {
  return { $ref: `#/components/schemas/${name}` }
}

/** zod writes the name of `.meta({ id })` as `id`. */
function nameOf(schema: JsonSchema): string | undefined {
  const name = isRecord(schema) ? schema['id'] : undefined
  return typeof name === 'string' ? name : undefined
}
