/** Waits for work to end, but not longer than so many milliseconds. */
export async function isOverWithin(time: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, time, false)))
  const isOver = await Promise.race([work.then(() => true), limit])
  clearTimeout(timer)
  return isOver
}
