import type { ExampleServer } from './example-server.js'
import type { Scope, Trial } from './row.js'

/** What several rows share: one that is made for the first of them, and anew when its process has ended. */
export function sharedPlace<Place extends { server: ExampleServer }>(
  make: (scope: Scope) => Promise<Place>
): (trial: Trial) => Promise<Place> {
  let place: Promise<Place> | undefined
  return async ({ shared }) => {
    if (place !== undefined && !(await place).server.isAlive) place = undefined
    place ??= make(shared)
    return place
  }
}
