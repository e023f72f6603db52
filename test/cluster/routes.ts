/** Route files that the command adds to the example: what its clients need and the example does not have. */
export const ROUTES: Readonly<Record<string, string>> = {
  // The example issues no refresh tokens: the specification shows a token service, and no endpoint.
  'src/api/cluster/tokens/route.ts': `
import type { Request } from 'twinroute'

export async function POST(request: Request) {
  const { userId } = await request.body
  return { token: await request.services.tokens.generateRefreshToken(userId) }
}

export async function PUT(request: Request) {
  const { token } = await request.body
  return { token: await request.services.tokens.refresh(token) }
}
`,
  'src/api/cluster/events/route.ts': `
import type { Request, Response } from 'twinroute'

export function GET(request: Request, response: Response) {
  response.set('Content-Type', 'text/event-stream')
  const send = () => void response.write('data: ' + process.pid + '\\n\\n')
  send()
  const timer = setInterval(send, 200)
  request.signal.addEventListener('abort', () => {
    clearInterval(timer)
    response.end('data: end\\n\\n')
  })
}
`,
  // What it has begun is written down before anything else, so that it is known also of a process that is killed.
  'src/api/cluster/work/route.ts': `
import { appendFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Request, Response } from 'twinroute'

async function work(request: Request, response: Response) {
  const note = (word: string) => appendFileSync(process.env.CLUSTER_NOTES ?? '', word + ' ' + request.get('x-id') + ' ' + process.pid + '\\n')
  note('begun')
  response.on('finish', () => note('answered'))
  await wait(Number(request.query.ms))
  return { pid: process.pid }
}
export { work as GET, work as POST }
`,
  'src/api/cluster/large/route.ts': `
import type { Request } from 'twinroute'

const PIECE = Buffer.alloc(64 * 1024, 'x')

async function* pieces(count: number) {
  for (let sent = 0; sent < count; sent++) yield PIECE
}

export const GET = (request: Request) => pieces(Number(request.query.pieces))
`
}
