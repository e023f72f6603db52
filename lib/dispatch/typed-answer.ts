import type { FastifyReply } from 'fastify'
import type { StatusObject } from '../contract/route-module.js'
import { isProduction } from '../contract/mode.js'
import { JSON_TYPE } from '../answer/send.js'
import { hasJsonSettings } from '../express/etag-and-json.js'
import { hasOtherJson } from '../express/response-members.js'
import { isAnswered, kReply, type LinkedResponse } from '../link/state.js'
import { isPromise, thenOrNow } from '../options/values.js'
import type { AnswerSchema, Serialise } from '../schema/answer-schema.js'
import type { CompiledDefinition } from '../schema/compile-definition.js'
import { BODILESS, isPlainObject, isStatusObject, isWebResponse } from './deliver.js'
import { isBody } from './body-kinds.js'
import type { Runtime } from './runtime.js'
import type { AnswerBy } from './watched-json.js'
import { breaksSchema, hasNeedlessBody, isUndeclared, tellUndeclared, type TypedRoute } from './answer-breaches.js'

/** A body, as JSON text where it has been serialised. */
type Prepared = { readonly body: unknown; readonly text?: undefined } | { readonly text: string }

/** Checks and prepares what a typed handler answers, by `response.json` or by what it returns. */
export class TypedAnswer {
  readonly #runtime: Runtime
  readonly #route: TypedRoute
  readonly #answers: NonNullable<CompiledDefinition['answers']>
  readonly #isChecked: boolean

  constructor(runtime: Runtime, route: TypedRoute, answers: NonNullable<CompiledDefinition['answers']>) {
    this.#runtime = runtime
    this.#route = route
    this.#answers = answers
    this.#isChecked = !isProduction(runtime.mode)
  }

  /** Answers a `response.json()`. In a callback nothing would catch what is thrown: it goes where all errors go. */
  readonly json: AnswerBy = (response, body, before) => {
    if (isAnswered(response)) {
      before.call(response, body) // refused as a second answer
      return
    }
    const reply = response[kReply] as FastifyReply
    const send = (prepared: Prepared): void => {
      if (prepared.text === undefined) before.call(response, prepared.body)
      else if (takesObjects(response)) before.call(response, JSON.parse(prepared.text))
      else {
        if (!response.getHeader('content-type')) response.setHeader('Content-Type', JSON_TYPE)
        response.send(prepared.text)
      }
    }
    try {
      const prepared = this.#prepare(reply, response.statusCode, body)
      if (!isPromise(prepared)) send(prepared)
      else prepared.then(send).catch((error: unknown) => this.#runtime.fail(reply, error))
    } catch (error) {
      this.#runtime.fail(reply, error)
    }
  }

  /** What is delivered in place of what a handler has returned. */
  returned(response: LinkedResponse, result: unknown): unknown {
    if (result === undefined || result === response || result instanceof Error || isAnswered(response)) return result
    const reply = response[kReply] as FastifyReply
    if (typeof result !== 'object' || result === null || !isStatusObject(result)) {
      if (isResponse(result)) return this.#declared(reply, result.status, result)
      return thenOrNow(this.#prepare(reply, response.statusCode, result), (prepared) =>
        dataOf(response, reply, prepared)
      )
    }
    const { status, body } = result
    if (body === undefined && this.#answers.get(status) === null) return result
    return thenOrNow(this.#prepare(reply, status, body), (prepared) => withBody(response, reply, result, prepared))
  }

  /** A web Response brings a body of its own, of which only the status can be checked. */
  #declared(reply: FastifyReply, status: number, result: unknown): unknown {
    if (!this.#answers.has(status) && !BODILESS.has(status)) this.#refuseUndeclared(reply, status)
    return result
  }

  #prepare(reply: FastifyReply, status: number, body: unknown): Prepared | Promise<Prepared> {
    const schema = this.#answers.get(status)
    if (schema === undefined) {
      if (status !== 304) this.#refuseUndeclared(reply, status)
      return { body }
    }
    if (schema === null) return this.#withoutBody(status, body)
    if (isBytes(body) && schema.isBinary) return { body }
    const isText = typeof body === 'string' || body === undefined
    const serialise = isText || isBytes(body) ? undefined : schema.serialise
    if (serialise !== undefined && !this.#isChecked) return { text: serialise(body) }
    return this.#check({ status, schema, serialise }, body)
  }

  #check({ status, schema, serialise }: Step, body: unknown): Prepared | Promise<Prepared> {
    return thenOrNow(schema.check(body), (checked) => {
      if (checked.problems !== undefined)
        throw breaksSchema(this.#runtime.mode, { ...this.#route, status, problems: checked.problems })
      return serialise === undefined ? { body: checked.value } : { text: serialise(checked.value) }
    })
  }

  #withoutBody(status: number, body: unknown): Prepared {
    if (this.#isChecked && body !== undefined && body !== null) throw hasNeedlessBody({ ...this.#route, status })
    return { body: undefined }
  }

  #refuseUndeclared(reply: FastifyReply, status: number): void {
    if (this.#isChecked) throw isUndeclared({ ...this.#route, status }, [...this.#answers.keys()])
    tellUndeclared(reply, { ...this.#route, status })
  }
}

interface Step {
  readonly status: number
  readonly schema: AnswerSchema
  readonly serialise: Serialise | undefined
}

/** A middleware or a setting of the app decides how an object is written. */
function takesObjects(response: LinkedResponse): boolean {
  return hasOtherJson(response) || hasJsonSettings(response.app)
}

/** What is data stays data, also where it has lost the key that told it from a status object. */
function dataOf(response: LinkedResponse, reply: FastifyReply, prepared: Prepared): unknown {
  const body = bodyOf(response, reply, prepared)
  if (typeof body !== 'object' || body === null || !isStatusObject(body)) return body
  return { status: response.statusCode, body }
}

function bodyOf(response: LinkedResponse, reply: FastifyReply, prepared: Prepared): unknown {
  if (prepared.text === undefined) return prepared.body
  if (takesObjects(response)) return JSON.parse(prepared.text)
  if (!reply.hasHeader('content-type')) reply.header('content-type', JSON_TYPE)
  return prepared.text
}

function withBody(
  response: LinkedResponse,
  reply: FastifyReply,
  result: StatusObject,
  prepared: Prepared
): StatusObject {
  return { ...result, body: bodyOf(response, reply, prepared) }
}

function isResponse(result: unknown): result is globalThis.Response {
  return typeof result === 'object' && result !== null && isWebResponse(result)
}

/** What is sent as it is: streams, bytes, files. */
function isBytes(body: unknown): boolean {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && !isPlainObject(body) && isBody(body)
}
