import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'

/** A query of the dashboard. */
export interface Query {
  /** Of its panel. */
  title: string
  expr: string
}

interface Panel {
  title: string
  targets?: { expr: string }[]
}

interface Dashboard {
  templating: { list: { name: string; type: string; definition?: string }[] }
  panels: Panel[]
}

const file = new URL('../../../docs/grafana-dashboard.json', import.meta.url)
const dashboard = JSON.parse(readFileSync(file, 'utf8')) as Dashboard

export const variables = dashboard.templating.list

/** Every query, with the variables as Grafana fills them in when all are chosen. */
export const queries: readonly Query[] = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr: fillIn(expr) }))
)

export function fillIn(expr: string): string {
  return expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$(job|instance)/g, '.+')
}

/** What a query of PromQL names. */
export interface Names {
  metrics: string[]
  /** Of matchers and of `by`. */
  labels: string[]
  errors: string[]
}

export function namesIn(expr: string): Names {
  const names: Names = { metrics: [], labels: [], errors: [] }
  parser.parse(expr).iterate({
    enter: ({ type, name, from, to, node }) => {
      const text = expr.slice(from, to)
      if (type.isError) names.errors.push(`at ${from}: ${expr}`)
      else if (name === 'LabelName') names.labels.push(text)
      else if (name === 'Identifier' && node.parent?.name === 'VectorSelector') names.metrics.push(text)
    }
  })
  return names
}
