/** Any text in HTML, as content or in an attribute: all but letters, digits and spaces by number. */
export function asEntities(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N} ]/gu, (character) => `&#${character.codePointAt(0)};`)
}
