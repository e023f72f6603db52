import t from 'tap'
import { errorScenarios } from './differential/errors.js'
import { fileScenarios } from './differential/files.js'
import { parserScenarios } from './differential/parsers.js'
import { requestScenarios } from './differential/request.js'
import { responseScenarios } from './differential/response.js'
import { routingScenarios } from './differential/routing.js'
import {
  TARGETS,
  type AnyScenario,
  type Ask,
  type Difference,
  type HandlerScenario,
  type Target
} from './differential/scenario.js'
import { startersFor, type Placed } from './support/engines.js'
import type { Answer, Call } from './support/hosts.js'

/** What is compared of an answer. */
interface Compared {
  status: number
  headers: Record<string, unknown>
  body: string
}

/** Headers of the connection and the clock, and the one createApp adds to every answer. */
const NOT_COMPARED = ['date', 'connection', 'keep-alive', 'x-request-id']

/** What createApp leaves out on purpose: it does not say what it runs on. */
const NOT_FROM_CREATE_APP = ['x-powered-by']

const TABLES: Record<string, readonly AnyScenario[]> = {
  request: requestScenarios,
  response: responseScenarios,
  routing: routingScenarios,
  errors: errorScenarios,
  parsers: parserScenarios,
  files: fileScenarios
}

const placed = Object.entries(TABLES).map(([table, scenarios]) => ({
  table,
  scenarios: scenarios.map((scenario, index) => place(scenario, `/${table}-${index}`))
}))

function place(scenario: AnyScenario, at: string): Placed {
  return { scenario, at: 'handle' in scenario ? at + (scenario.path ?? '') : '' }
}

function isHandler(placed: Placed): placed is Placed<HandlerScenario> {
  return 'handle' in placed.scenario
}

async function askAll(call: Call, asks: readonly Ask[], base: string): Promise<Compared[]> {
  const answers: Compared[] = []
  for (const ask of asks) {
    const { line, ...sent } = typeof ask === 'string' ? { line: ask } : ask
    const [method = '', path = ''] = line.split(' ')
    answers.push(compared(await call(`${method} ${base}${path}`, sent)))
  }
  return answers
}

function compared({ status, headers, text }: Answer): Compared {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (NOT_COMPARED.includes(name)) continue
    // injected ones stand apart, or one alone
    kept[name] = name === 'set-cookie' ? [value].flat() : String(value).replaceAll(/,\s*/g, ', ')
  }
  if (!text.includes('<br>')) return { status, headers: kept, body: text }
  // an error page: the frames of its stack are of different files
  delete kept['content-length']
  return { status, headers: kept, body: text.replaceAll(/<br> &nbsp; &nbsp;at .*?(?=<br>|<\/pre>)/g, '') }
}

/** light-my-request writes what is ended before node could count it. */
function withoutFraming({ headers, ...rest }: Compared): Compared {
  const { 'content-length': _length, 'transfer-encoding': _coding, ...kept } = headers
  return { ...rest, headers: kept }
}

function differsOn({ on }: Difference, target: Target): boolean {
  return on === 'all' || target.includes(on)
}

function expectedOn(target: Target, answers: readonly Compared[]): Compared[] {
  if (!target.startsWith('createApp')) return [...answers]
  return answers.map(({ headers, ...rest }) => {
    const kept = { ...headers }
    for (const name of NOT_FROM_CREATE_APP) delete kept[name]
    return { ...rest, headers: kept }
  })
}

for (const { table, scenarios } of placed) {
  t.test(`${table}: twinroute answers as Express 5 does`, async (t) => {
    const startersOf = await startersFor(t, scenarios.filter(isHandler))
    for (const { scenario, at } of scenarios) {
      t.test(scenario.rule, async (t) => {
        const starters = startersOf(scenario)
        const base = at.replace(/\/\[.*/, '')
        let expected: Compared[] = []
        for (const target of TARGETS) {
          const start = starters[target]
          if (start === undefined) continue
          const call = await start(t, { scenario, at })
          const answers = await askAll(call, scenario.asks, base)
          if (target === 'Express 5') expected = answers
          else if (scenario.differs !== undefined && differsOn(scenario.differs, target)) {
            t.notSame(answers, expectedOn(target, expected), `${target}: still different (${scenario.differs.reason})`)
          } else if (target.endsWith('injected')) {
            t.strictSame(answers.map(withoutFraming), expectedOn(target, expected).map(withoutFraming), target)
          } else t.strictSame(answers, expectedOn(target, expected), target)
        }
      })
    }
  })
}
