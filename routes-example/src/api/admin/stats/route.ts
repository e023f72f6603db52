import { defineHandler } from 'twinroute'
import { z } from 'zod'
import { told } from '../../../answers.js'

const survey = z
  .object({ users: z.int(), posts: z.int(), comments: z.int(), countedAt: z.iso.datetime() })
  .meta({ id: 'Survey' })

export const GET = defineHandler(
  {
    response: z.object({ data: survey }),
    summary: 'The counts of the last survey; the first request makes one',
    tags: ['admin']
  },
  async ({ services }) => ({ data: await services.statistics.last() })
)

export const POST = defineHandler(
  { response: told(survey), summary: 'Count anew', tags: ['admin'] },
  async ({ services }) => ({ data: await services.statistics.survey(), message: 'Statistics counted anew' })
)
