import { defineHandler } from 'twinroute'
import { envelope } from 'twinroute/http'
import { z } from 'zod'
import { wrapped } from '../../answers.js'
import { categoryRecord } from '../../categories/category-record.js'

export const GET = defineHandler(
  { response: wrapped(z.array(categoryRecord)), summary: 'List categories, by name', tags: ['posts'] },
  async (request) => envelope(await request.services.categories.list(), { request })
)
