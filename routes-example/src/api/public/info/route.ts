import { defineHandler } from 'twinroute'
import { z } from 'zod'

const INFO = { name: 'twinroute example', description: 'A small blog: users, posts, comments and categories' }

const info = z.object({ name: z.string(), description: z.string() })

/** JSON for programs, a page for browsers. The page's script runs because it carries the answer's nonce. */
export const GET = defineHandler(
  { response: z.union([info, z.string()]), summary: 'What this is, as JSON or as a page', tags: ['service'] },
  (request, response) => {
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
)
