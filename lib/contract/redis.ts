/** What twinroute needs of a client of the `redis` package (4 and later), also of one for a cluster or for sentinels. */
export interface RedisClient {
  readonly isReady: boolean
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}
