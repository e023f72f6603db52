/** A candidate: listens on a free port of 127.0.0.1 and serves a work, the usual ones when it has no routes of its own. */
export type Start = (work: string) => Promise<number>

export interface Candidate {
  name: string
  /** File below benchmarks/, without its ending. */
  module: string
  /** Named export of the module that starts it. */
  export: string
  /** Works it takes part in; all when undefined. */
  works?: readonly string[]
  /** Runs only when it or works are named, or everything is asked for. */
  isExtra?: boolean
}
