/** What a row has started, ended in reverse order. It stands for the test of tap where support files want one. */
export class Scope {
  readonly #ends: (() => unknown)[] = []

  teardown(end: () => unknown): void {
    this.#ends.push(end)
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).toReversed()) await end()
  }
}

/** How much of everything a run tries. */
export interface Sizes {
  /** Mixed requests. */
  requests: number
  /** Connections that are open and say nothing. */
  idle: number
  /** Connections that say everything slowly. */
  slow: number
  /** Requests whose client leaves. */
  aborts: number
  /** Uploads at once, of 1 MiB each. */
  uploads: number
  /** Waits for what takes minutes, such as the end of the time a request may take to arrive. */
  minutes: boolean
  /** Bounds of time are multiplied by it: a machine that does other things is no fault of the application. */
  patience: number
}

/** What a row has to work with. */
export interface Trial {
  scope: Scope
  /** Ends with the run: what several rows use. */
  shared: Scope
  sizes: Sizes
}

/** One thing that goes wrong, and what must come of it. */
export interface Row {
  name: string
  /** Why it cannot be tried on this machine. */
  missing?: () => string | undefined
  /** Resolves to the figure that is printed; rejects when something else came of it. */
  run(trial: Trial): Promise<string>
}

export const SHORT: Sizes = {
  requests: 4000,
  idle: 1000,
  slow: 200,
  aborts: 300,
  uploads: 128,
  minutes: false,
  patience: 1
}

export const LONG: Sizes = {
  requests: 1_000_000,
  idle: 10_000,
  slow: 2000,
  aborts: 10_000,
  uploads: 1000,
  minutes: true,
  patience: 1
}

/** Asks again and again until it holds. @throws after so many milliseconds, naming what was waited for */
export async function until(what: string, holds: () => boolean | Promise<boolean>, limit = 60_000): Promise<number> {
  const begun = performance.now()
  while (!(await holds())) {
    if (performance.now() - begun > limit) throw new Error(`Not within ${limit} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return performance.now() - begun
}

/** For figures: `1.24 s`, `38 ms`. */
export function ms(time: number): string {
  return time < 1000 ? `${Math.round(time)} ms` : `${(time / 1000).toFixed(2)} s`
}

/** For figures: `12.4 MiB`. */
export function mib(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}

/** The value that this part of them does not exceed. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0
}
