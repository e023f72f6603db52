import type { Request, Response } from 'twinroute'

const INFO = { name: 'twinroute example', description: 'A small blog: users, posts, comments and categories' }

/** JSON for programs, a page for browsers. The page's script runs because it carries the answer's nonce. */
export function GET(request: Request, response: Response) {
  response.vary('Accept')
  if (request.accepts(['json', 'html']) !== 'html') return INFO
  return `<!doctype html>
<html lang="en">
<title>${INFO.name}</title>
<h1>${INFO.name}</h1>
<p>${INFO.description}. It is <time></time>.</p>
<script nonce="${request.cspNonce}">document.querySelector('time').textContent = new Date().toLocaleString()</script>
</html>
`
}
