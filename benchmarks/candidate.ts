/** A candidate: listens on a free port of 127.0.0.1 and serves the workload. */
export type Start = () => Promise<number>

export interface Candidate {
  name: string
  /** File below benchmarks/, without its ending. */
  module: string
  /** Named export of the module that starts it. */
  export: string
  /** Works it takes part in; all when undefined. */
  works?: readonly string[]
}
