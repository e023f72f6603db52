import { type DocumentNode, Token, TokenKind, visit } from 'graphql'

const NO_TOKEN = new Token(TokenKind.SOF, 0, 0, 0, 0)

/**
 * Lets go of the tokens of a document. Every node's location holds on to the list of all tokens, comments included,
 * which is most of what a kept document weighs; errors only need the positions.
 */
export function compactLocations(document: DocumentNode): void {
  visit(document, {
    enter({ loc }) {
      if (loc !== undefined) Object.assign(loc, { startToken: NO_TOKEN, endToken: NO_TOKEN })
    }
  })
}
