import { spread, type Spread } from './statistics.js'
import type { Amounts } from './suite.js'
import type { Work } from './workload.js'

/** One timed round. */
export interface Sample {
  candidate: string
  work: string
  launch: number
  round: number
  cpu: number
  rate: number
}

export interface Row {
  candidate: string
  work: string
  /** CPU per request over that of the yardstick in the same round. */
  ratio: Spread
  /** Microseconds. */
  cpu: Spread
  rate: Spread
}

export interface Report {
  node: string
  machine: string
  date: string
  /** What the ratios are to, as a title. */
  yardstick: string
  settings: Amounts & { connections: number }
  works: readonly Pick<Work, 'name' | 'title' | 'share'>[]
  rows: readonly Row[]
}

/** Ratios are taken within a round, where the machine was in the same mood for both. */
export function summarize(samples: readonly Sample[], yardstick: string): Row[] {
  const base = samples.filter(({ candidate }) => candidate === yardstick)
  const groups = groupBy(samples)
  return [...groups.values()].map((group) => {
    const { candidate, work } = group[0] as Sample
    return {
      candidate,
      work,
      ratio: spread(group.map((sample) => sample.cpu / sameRound(base, sample).cpu)),
      cpu: spread(group.map(({ cpu }) => cpu)),
      rate: spread(group.map(({ rate }) => rate))
    }
  })
}

function groupBy(samples: readonly Sample[]): Map<string, Sample[]> {
  const groups = new Map<string, Sample[]>()
  for (const sample of samples) {
    const key = `${sample.work} ${sample.candidate}`
    groups.set(key, [...(groups.get(key) ?? []), sample])
  }
  return groups
}

function sameRound(samples: readonly Sample[], { work, launch, round }: Sample): Sample {
  return samples.find((other) => other.work === work && other.launch === launch && other.round === round) as Sample
}
