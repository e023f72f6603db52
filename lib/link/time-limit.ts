/**
 * The value of a promise, or a rejection when it has not come within so many milliseconds. When this process itself was busy for
 * all that time, an answer that is there and has yet to be read counts as in time.
 */
export function within<T>(answer: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = (): void => reject(new Error(`no answer within ${milliseconds} ms`))
    const timer = setTimeout(() => setImmediate(expire), milliseconds) // timers come first in a turn, then what is read
    const stopTimer = (): void => clearTimeout(timer)
    answer.then(resolve, reject)
    answer.then(stopTimer, stopTimer)
  })
}
