import type { Report, Row } from './report.js'

/**
 * A Markdown table: a row per candidate, a column per work, each cell the median ratio and the middle half; at the end, on
 * the side, requests per second of the first work.
 */
export function formatTable(report: Report): string {
  const { works } = report
  const names = [...new Set(report.rows.map((row) => row.candidate))]
  const { launches, rounds, amount, warmup, connections } = report.settings
  return [
    `CPU time of the server per request, ${report.yardstick} = 1.00; median (middle half). ${report.node}, ${report.machine}, ${report.date}.`,
    `${launches} launches x ${rounds} rounds x ${amount} requests over ${connections} connections, interleaved in shuffled order after ${warmup} to warm up.${shares(report)}`,
    '',
    line(['', ...works.map(({ title }) => title), `requests/s, ${works[0]?.title}`]),
    line(['---', ...works.map(() => '---'), '---']),
    ...names.map((name) => {
      const rows = works.map((work) => find(report, name, work.name))
      return line([name, ...rows.map(cell), rate(rows[0])])
    })
  ].join('\n')
}

/** Works that were given fewer requests; nothing when there are none. */
function shares({ works }: Report): string {
  const fewer = works.flatMap(({ title, share }) => (share === undefined ? [] : [`${title} ${share * 100} %`]))
  return fewer.length === 0 ? '' : ` Of these numbers: ${fewer.join(', ')}.`
}

function find(report: Report, candidate: string, work: string): Row | undefined {
  return report.rows.find((row) => row.candidate === candidate && row.work === work)
}

function cell(row: Row | undefined): string {
  if (row === undefined) return '-'
  const { median, low, high } = row.ratio
  return `${median.toFixed(2)} (${low.toFixed(2)}-${high.toFixed(2)})`
}

function rate(row: Row | undefined): string {
  return row === undefined ? '-' : String(Math.round(row.rate.median / 100) * 100)
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
