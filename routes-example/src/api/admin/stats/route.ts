import type { Request } from 'twinroute'

/** The counts of the last survey; the first request makes one. */
export async function GET(request: Request) {
  return { data: await request.services.statistics.last() }
}

/** Counts anew. */
export async function POST(request: Request) {
  return { data: await request.services.statistics.survey(), message: 'Statistics counted anew' }
}
