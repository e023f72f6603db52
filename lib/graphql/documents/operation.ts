import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  separateOperations
} from 'graphql'
import { refuse } from '../errors.js'

/** One operation, and a document that holds it and its fragments, and no other operation. */
export interface OperationDocument {
  operation: OperationDefinitionNode
  document: DocumentNode
}

/**
 * The operation a request asks for, cut out of its document. Only this is measured and executed, so that the other
 * operations of the document can neither cost anything nor be run by mistake.
 */
export function pickOperation(document: DocumentNode, name: string | undefined): OperationDocument {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
  const named = name === undefined ? operations : operations.filter((operation) => operation.name?.value === name)
  const [operation, second] = named
  if (operation === undefined) {
    return refuse(name === undefined ? 'Must provide an operation.' : `Unknown operation named "${name}".`)
  }
  if (second !== undefined) return refuse('Must provide operation name if query contains multiple operations.')
  if (operation.operation === OperationTypeNode.SUBSCRIPTION) refuse('Subscriptions are not supported.')
  if (operations.length === 1) return { operation, document }
  return { operation, document: separateOperations(document)[operation.name?.value ?? ''] ?? document }
}

export function fragmentsOf(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  return new Map(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment])
  )
}

/** `__schema` and `__type` by the name of the field itself: an alias or a fragment of that name is no introspection. */
export function isIntrospectionField(field: FieldNode): boolean {
  return field.name.value === '__schema' || field.name.value === '__type'
}
