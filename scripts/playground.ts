// The query tool in the browser. scripts/build-playground.ts makes one script and one style sheet of it.
import { GraphiQL } from 'graphiql'
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'
import 'graphiql/graphiql.css'
import './playground.css'

// Parts of GraphiQL insert style elements; under a content security policy they need the nonce of this script.
declare global {
  var __webpack_nonce__: string | undefined
}
globalThis.__webpack_nonce__ = document.currentScript?.nonce

/** Queries go to the address of the page itself, so prefixes and proxies need no setting. */
async function send(parameters: unknown, { headers }: { headers?: Record<string, string> } = {}): Promise<unknown> {
  const response = await fetch(globalThis.location.pathname, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify(parameters)
  })
  return response.json()
}

/** The browser's storage, but for headers: a stored token would outlive the visit, and GraphiQL's history holds them. */
const storage = {
  get length() {
    return globalThis.localStorage.length
  },
  getItem: (key: string) => globalThis.localStorage.getItem(key),
  setItem: (key: string, value: string) => globalThis.localStorage.setItem(key, withoutHeaders(value)),
  removeItem: (key: string) => globalThis.localStorage.removeItem(key),
  clear: () => globalThis.localStorage.clear()
}

function withoutHeaders(value: string): string {
  try {
    return JSON.stringify(JSON.parse(value, (key, member: unknown) => (key === 'headers' ? undefined : member)))
  } catch {
    return value // a query is stored as it is
  }
}

const FIRST_QUERY = `# Ctrl+Enter runs the query, Ctrl+Space completes it.
# Headers such as {"Authorization": "Bearer ..."} go into the headers tab; they are not stored.

{
  __typename
}
`

createRoot(document.querySelector('#playground')).render(
  createElement(GraphiQL, {
    fetcher: send,
    defaultQuery: FIRST_QUERY,
    defaultEditorToolsVisibility: 'headers',
    isHeadersEditorEnabled: true,
    shouldPersistHeaders: false,
    storage
  })
)
