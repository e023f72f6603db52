import type { Cluster } from './cluster.js'

/** Something that must hold. */
export interface Row {
  name: string
  /** Rejects when it does not hold; may give figures for the line that is printed. */
  run(cluster: Cluster): Promise<string | void>
}
