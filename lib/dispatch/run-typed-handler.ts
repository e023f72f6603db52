import type { Handler } from '../contract/route-module.js'
import { definitionOf } from '../contract/typed-handler.js'
import type { LinkedRequest, LinkedResponse } from '../link/state.js'
import { isPromise, isThenable } from '../options/values.js'
import { compiledOf } from '../schema/compile-definition.js'
import type { TypedRoute } from './answer-breaches.js'
import type { Runtime } from './runtime.js'
import { TypedAnswer } from './typed-answer.js'
import { releaseJson, watchJson } from './watched-json.js'
import { createReceive } from './typed-request.js'

/** A handler with what its definition asks for around it; a plain handler is itself, so that nothing is added to its requests. */
export function withDefinition(runtime: Runtime, route: TypedRoute, handler: Handler): Handler {
  const definition = definitionOf(handler)
  if (definition === undefined) return handler
  const { parts, answers } = compiledOf(definition)
  const answering = answers === undefined ? handler : answeringBy(new TypedAnswer(runtime, route, answers), handler)
  const receive = createReceive(parts)
  if (receive === undefined) return answering
  return function receivingHandler(request, response, next) {
    const received = receive(request as LinkedRequest)
    return isPromise(received)
      ? received.then(() => answering(request, response, next))
      : answering(request, response, next)
  }
}

function answeringBy(answer: TypedAnswer, handler: Handler): Handler {
  return function answeringHandler(request, response, next) {
    const linked = response as LinkedResponse
    watchJson(linked, answer.json)
    const take = (value: unknown): unknown => {
      if (value !== undefined) releaseJson(linked) // what is returned passes the schema by itself
      return answer.returned(linked, value)
    }
    const result = handler(request, response, next)
    return isThenable(result) ? Promise.resolve(result).then(take) : take(result)
  }
}
