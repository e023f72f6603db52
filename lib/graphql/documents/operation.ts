import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  separateOperations,
  type ValueNode,
  type ASTNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
  TypeInfo,
  visit,
  visitWithTypeInfo
} from 'graphql'
import { throwRefusal } from '../errors.js'

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
    return throwRefusal(name === undefined ? 'Must provide an operation.' : `Unknown operation named "${name}".`)
  }
  if (second !== undefined) return throwRefusal('Must provide operation name if query contains multiple operations.')
  if (operation.operation === OperationTypeNode.SUBSCRIPTION) throwRefusal('Subscriptions are not supported.')
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

export function holdsVariable(value: ValueNode): boolean {
  if (value.kind === Kind.VARIABLE) return true
  if (value.kind === Kind.LIST) return value.values.some(holdsVariable)
  return value.kind === Kind.OBJECT && value.fields.some((field) => holdsVariable(field.value))
}

/**
 * Whether the compiler gives the answers the interpreter gives. It takes types of interfaces and unions synchronously
 * only, leaves the alias `__proto__` out, gives null for a variable in an input object that was not sent, and follows a
 * fragment once, whatever `@skip` and `@include` say where it is spread again. Such documents are left to the interpreter.
 */
export function isCompilable(document: DocumentNode, schema: GraphQLSchema): boolean {
  const types = new TypeInfo(schema)
  let compilable = true
  visit(
    document,
    visitWithTypeInfo(types, {
      enter(node) {
        if (!compilesAlike(node, types.getParentType())) compilable = false
        return undefined
      }
    })
  )
  return compilable
}

function compilesAlike(node: ASTNode, parent: GraphQLNamedType | null | undefined): boolean {
  if (node.kind === Kind.DIRECTIVE) return false
  if (node.kind === Kind.SELECTION_SET) return !isResolvedAtRuntime(parent)
  if (node.kind === Kind.FIELD) return (node.alias ?? node.name).value !== '__proto__'
  const nests = node.kind === Kind.OBJECT || node.kind === Kind.LIST
  return !(nests && holdsVariable(node))
}

function isResolvedAtRuntime(type: GraphQLNamedType | null | undefined): boolean {
  return isAbstractType(type) || (isObjectType(type) && type.isTypeOf != null)
}
