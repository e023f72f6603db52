/** How the application runs. Only the exact word `production` means production. */
export type Mode = string

/** The mode of an application: the given one, else `NODE_ENV`, else `development`. The only reader of `NODE_ENV`. */
export function resolveMode(given?: Mode): Mode {
  return given ?? (process.env.NODE_ENV || 'development')
}

export function isProduction(mode: Mode): boolean {
  return mode === 'production'
}
