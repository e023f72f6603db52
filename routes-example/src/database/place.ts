/** Where a database is, for the log: host, port and name, and nothing that may be secret. */
export function placeOf(url: string): string {
  if (!/^postgres(ql)?:/.test(url)) return url
  const parts = URL.canParse(url) ? new URL(url) : undefined
  // What follows the host has an @ where a password has a / or another character that ends the host.
  if (parts === undefined || `${parts.pathname}${parts.search}${parts.hash}`.includes('@')) {
    return 'an address that cannot be read (in a password write / as %2F, @ as %40, # as %23, ? as %3F)'
  }
  const { hostname, port, pathname, searchParams } = parts
  const host = searchParams.get('host') ?? hostname
  const at = searchParams.get('port') ?? port
  return `postgres://${host}${at === '' ? '' : `:${at}`}${pathname}`
}
