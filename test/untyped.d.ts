/** The part of the package that the tests use; it has no types of its own. */
declare module 'http-link-header' {
  const LinkHeader: { parse(header: string): { refs: { rel: string; uri: string }[] } }
  export default LinkHeader
}
