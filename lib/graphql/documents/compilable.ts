import {
  type ASTNode,
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo
} from 'graphql'
import { holdsVariable } from '../cost/conditions.js'

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
        if (!isPlain(node, types.getParentType())) compilable = false
        return undefined
      }
    })
  )
  return compilable
}

function isPlain(node: ASTNode, parent: GraphQLNamedType | null | undefined): boolean {
  if (node.kind === Kind.DIRECTIVE) return false
  if (node.kind === Kind.SELECTION_SET) return !isResolvedAtRuntime(parent)
  if (node.kind === Kind.FIELD) return (node.alias ?? node.name).value !== '__proto__'
  const nests = node.kind === Kind.OBJECT || node.kind === Kind.LIST
  return !(nests && holdsVariable(node))
}

function isResolvedAtRuntime(type: GraphQLNamedType | null | undefined): boolean {
  return isAbstractType(type) || (isObjectType(type) && type.isTypeOf != null)
}
