import type { Request } from 'twinroute'

export const GET = (request: Request<'/api/hello/[name]'>) => ({ hello: request.params.name })
