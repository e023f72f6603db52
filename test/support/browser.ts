// A browser that reaches nothing but the application of the test.
import { existsSync } from 'node:fs'
import { chromium, type Page } from 'playwright-core'
import type { Middleware } from 'twinroute'

const CHROMIUM = '/usr/bin/chromium'

/** Why no browser can be started here; false when one can. */
export const skip = existsSync(CHROMIUM) ? false : `there is no ${CHROMIUM} on this machine`

export const NONCE = 'bm9uY2Utb2YtdGhlLXRlc3Q='

/** A content security policy that refuses what has no {@link NONCE}. */
export function strictPolicy(images: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${NONCE}'`,
    `style-src 'nonce-${NONCE}'`,
    "connect-src 'self'",
    `img-src ${images}`
  ].join('; ')
}

export function sendPolicy(policy: string): Middleware {
  return (request, response, next) => {
    request.cspNonce = NONCE
    response.set('content-security-policy', policy)
    next()
  }
}

/** The part of tap that ends what a test has started. */
interface Test {
  teardown(end: () => unknown): void
}

export interface OpenPage {
  page: Page
  /** Errors and warnings of the console, and errors that nothing has caught. */
  problems: readonly string[]
  /** URLs that were asked for and are not allowed; they got no answer. */
  outside: readonly string[]
}

/** An empty page, which may load only what begins with one of these. */
export async function openPage(t: Test, allowed: readonly string[]): Promise<OpenPage> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  const outside: string[] = []
  await page.route('**', (route) => {
    const url = route.request().url()
    if (allowed.some((start) => url.startsWith(start))) return route.continue()
    outside.push(url)
    return route.abort()
  })
  return { page, problems, outside }
}
