const ESCAPED = /%(?:0A|0D|22)/gi

/** Browsers write quotes and line breaks of a name so (https://html.spec.whatwg.org/#multipart-form-data). */
export function unescapeName(name = ''): string {
  return name.includes('%') ? name.replaceAll(ESCAPED, decodeURIComponent) : name
}

/**
 * Fields that are dropped: without a name, or with one that leads to a prototype where a handler makes objects of names
 * (`__proto__`, `a[__proto__][b]`, `constructor.prototype`).
 */
export function isDroppedName(name: string): boolean {
  if (name === '') return true
  if (!name.includes('__proto__') && !name.includes('constructor')) return false
  const path = name.split(/[.[\]]+/)
  return path.some((key, at) => key === '__proto__' || (key === 'constructor' && path[at + 1] === 'prototype'))
}
