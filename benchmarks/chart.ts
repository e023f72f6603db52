import type { Report } from './report.js'

const WIDTH = 760
const LABEL = 220
const BAR = 22
const GAP = 8
const TOP = 54

/** Horizontal bars of the first work: CPU per request, the yardstick = 1; the thin line is the middle half. */
export function drawChart(report: Report): string {
  const [work] = report.works
  const rows = report.rows.filter((row) => row.work === work?.name).toSorted((a, b) => a.ratio.median - b.ratio.median)
  const most = Math.max(...rows.map(({ ratio }) => ratio.high))
  const scale = (WIDTH - LABEL - 70) / most
  const height = TOP + rows.length * (BAR + GAP) + 14
  const bars = rows.map(({ candidate, ratio }, index) => {
    const y = TOP + index * (BAR + GAP)
    const middle = y + BAR / 2
    const fill = candidate.startsWith('twinroute') ? '#1f7a5c' : '#9aa5b1'
    return [
      `<text x="${LABEL - 10}" y="${middle + 5}" text-anchor="end">${escape(candidate)}</text>`,
      `<rect x="${LABEL}" y="${y}" width="${(ratio.median * scale).toFixed(1)}" height="${BAR}" rx="3" fill="${fill}"/>`,
      `<path d="M${at(ratio.low)} ${middle}H${at(ratio.high)}" stroke="#222b33" stroke-width="1.5"/>`,
      `<text x="${Number(at(ratio.high)) + 8}" y="${middle + 5}">${ratio.median.toFixed(2)}</text>`
    ].join('')
  })
  function at(value: number): string {
    return (LABEL + value * scale).toFixed(1)
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="system-ui, sans-serif" font-size="14" fill="#222b33">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    `<text x="16" y="24" font-weight="600">CPU per request, ${escape(report.yardstick)} = 1 (less is better)</text>`,
    `<text x="16" y="42" font-size="12" fill="#5b6670">${escape(work?.title ?? '')}, ${report.node}, ${escape(report.machine)}, ${report.date}</text>`,
    ...bars,
    '</svg>',
    ''
  ].join('\n')
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
