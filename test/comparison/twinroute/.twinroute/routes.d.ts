// Written by `twinroute types`. Run it again when a route file is added, moved or removed.
export interface Routes {
  '/api/notes': typeof import('../api/notes/route.js')
  '/api/notes/[id]': typeof import('../api/notes/[id]/route.js')
}
