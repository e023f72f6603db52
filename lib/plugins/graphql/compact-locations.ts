import { type DocumentNode, Kind, Token, TokenKind, visit } from 'graphql'

const NO_TOKEN = new Token(TokenKind.SOF, 0, 0, 0, 0)

/** What errors of an execution point at. */
const POINTED_AT: ReadonlySet<string> = new Set([
  Kind.OPERATION_DEFINITION,
  Kind.VARIABLE_DEFINITION,
  Kind.FIELD,
  Kind.DIRECTIVE,
  Kind.VARIABLE
])

/**
 * Lets go of what nobody needs of a document's locations, which are most of its weight: each holds on to the list of all
 * tokens, comments included. Errors only need to know where some kinds of nodes begin.
 *
 * @returns the number of nodes
 */
export function compactLocations(document: DocumentNode): number {
  let nodes = 0
  visit(document, {
    enter(node) {
      nodes++
      if (node.loc === undefined) return
      if (!POINTED_AT.has(node.kind)) {
        Object.assign(node, { loc: undefined })
        return
      }
      const { kind, start, end, line, column } = node.loc.startToken
      Object.assign(node.loc, { startToken: new Token(kind, start, end, line, column), endToken: NO_TOKEN })
    }
  })
  return nodes
}
