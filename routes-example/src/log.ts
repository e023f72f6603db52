/** Where database and Redis report what operators should know. */
export interface Log {
  info(message: string): void
  error(message: string): void
}
