import type { Candidate } from './candidate.js'
import type { Work } from './workload.js'

/** How often something is measured. */
export interface Amounts {
  /** Processes per candidate and work. */
  launches: number
  /** Timed rounds per launch. */
  rounds: number
  /** Requests per round. */
  amount: number
  /** Requests before the first round. */
  warmup: number
}

/** Candidates that serve the same works, compared with one of them. */
export interface Suite {
  /** First part of the name of the file with its figures. */
  name: string
  /** The npm script that runs it. */
  command: string
  candidates: readonly Candidate[]
  works: readonly Work[]
  /** Name of the candidate that all figures are ratios to, taken in the same round. */
  yardstick: string
  /** What tables and charts call the yardstick. */
  yardstickTitle: string
  defaults: Amounts
}
