import { database } from '../../database.js'

export async function GET() {
  await database.query('select 1')
  return { status: 'healthy' }
}
