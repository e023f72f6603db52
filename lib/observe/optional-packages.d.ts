/*
 * This package compiles without these two: what is used of them is described in observe-peers.ts. test/observe/ runs with
 * the packages themselves.
 */
declare module 'prom-client' {
  // oxlint-disable-next-line typescript/consistent-type-imports -- an import would make a module of this file
  const client: import('./observe-peers.js').PromClient
  export default client
}

declare module '@fastify/under-pressure' {
  // oxlint-disable-next-line typescript/consistent-type-imports -- an import would make a module of this file
  const plugin: import('./observe-peers.js').UnderPressure
  export default plugin
}
