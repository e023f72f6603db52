// Written by `twinroute types`. Run it again when a route file is added, moved or removed.
export interface Routes {
  '/api/health': typeof import('../src/api/health/route.js')
  '/api/notes': typeof import('../src/api/notes/route.js')
  '/api/notes/[id]': typeof import('../src/api/notes/[id]/route.js')
}
