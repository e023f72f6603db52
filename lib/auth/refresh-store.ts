/** What the store knows of a user: a user record, or these two fields of one. */
export interface RefreshRecord {
  /** The one refresh token that is valid for the user; null when there is none. */
  refreshToken: string | null | undefined
  /** The role for new access tokens. */
  role: string
}

/** Where refresh tokens are kept, usually the table of users. All three may be async. */
export interface RefreshTokenStore {
  /** Replaces the user's token: an older one is no longer accepted. */
  save(userId: string, token: string): unknown
  /** The user's record, or null or undefined when there is no such user. */
  read(userId: string): RefreshRecord | null | undefined | Promise<RefreshRecord | null | undefined>
  /** Removes the user's token. */
  clear(userId: string): unknown
}
