/** Of a time limit. Each is waited for by itself. */
const PARTS = 4

/**
 * The value of a promise, or a rejection when it has not come within so many milliseconds of this process. While the process is
 * blocked it can neither send what it asks nor read what is answered, so a block counts as a quarter of the limit at most, however
 * long it is; and an answer that is there and has yet to be read counts as in time.
 */
export function within<T>(answer: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    let left = PARTS
    const waitOn = (): void => {
      if (left-- > 0) timer = setTimeout(() => setImmediate(next), milliseconds / PARTS) // timers come first in a turn, then what is read
      else reject(new Error(`no answer within ${milliseconds} ms`))
    }
    const next = (): void => void (timer !== undefined && waitOn())
    const stop = (): void => {
      clearTimeout(timer)
      timer = undefined
    }
    waitOn()
    answer.then(resolve, reject)
    answer.then(stop, stop)
  })
}
