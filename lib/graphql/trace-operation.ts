import { tracingChannel } from 'node:diagnostics_channel'
import type { FastifyReply } from 'fastify'
import type { OperationDefinitionNode } from 'graphql'
import type { GraphqlTrace } from '../contract/traces.js'

const channel = tracingChannel<unknown, GraphqlTrace>('twinroute.graphql')

export function isTraced(): boolean {
  return channel.hasSubscribers
}

/** Executes an operation and tells the channel. */
export async function traceOperation<Result extends NonNullable<GraphqlTrace['result']>>(
  { operation, name }: OperationDefinitionNode,
  { request, raw }: FastifyReply,
  execute: () => Promise<Result>
): Promise<Result> {
  const trace = { operationType: operation, operationName: name?.value, request: request.raw, response: raw }
  return channel.tracePromise(execute, trace as GraphqlTrace)
}
