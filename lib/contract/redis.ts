/** What twinroute needs of a client of the `redis` package (4 and later), also of one for a cluster or for sentinels. */
export interface RedisClient {
  /** Many versions of the client for a cluster do not have it: they are asked at any time. */
  readonly isReady?: boolean | undefined
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}
