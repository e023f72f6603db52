/** Milliseconds of CPU this process has used while `run` ran. A busy machine makes it no longer. */
export async function cpuOf(run: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** What reading a JSON text once costs here: the yardstick for what is done with it afterwards. At least a millisecond. */
export async function parseCost(json: string): Promise<number> {
  const costs: number[] = []
  for (let round = 0; round < 5; round++) costs.push(await cpuOf(() => JSON.parse(json)))
  return Math.max(1, ...costs)
}
