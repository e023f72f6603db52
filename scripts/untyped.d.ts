// What scripts/playground.ts imports without types.
declare module '*.css'

declare module 'graphiql' {
  export const GraphiQL: unknown
}

declare module 'react' {
  export function createElement(type: unknown, properties: object): unknown
}

declare module 'react-dom/client' {
  export function createRoot(container: Element | null): { render(element: unknown): void }
}
