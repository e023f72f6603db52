import { cutMessage } from './cut-text.js'
import { fieldProblems } from './problems.js'
import { readProperty } from './read-property.js'

/**
 * An error as Fastify's own handler may send and log it: it would do so whole, and an error of a schema library lists every
 * mistake of a body, in its message, its stack and its issues.
 */
export function shortenError(error: Error): Error {
  const members: PropertyDescriptorMap = {}
  const issues = readProperty(error, 'issues')
  if (Array.isArray(issues)) members['issues'] = { value: fieldProblems(issues) }
  const message = readProperty(error, 'message')
  if (typeof message === 'string' && cutMessage(message) !== message) {
    const stack = String(readProperty(error, 'stack'))
    const frames = stack.slice(stack.indexOf(message) + message.length)
    members['message'] = { value: cutMessage(message) }
    members['stack'] = { value: cutMessage(`${error.name}: ${cutMessage(message)}${frames}`) }
  }
  return Object.keys(members).length === 0 ? error : (Object.create(error, members) as Error)
}
