import { ORDER_TEXT, WRONG_ORDER_TEXT } from './orders.js'
import { ITEMS, PAGE_TEXT, STREAM_TEXT } from './payloads.js'
import { note, type Work } from './workload.js'

/** 24 bytes each, as a site with an analytics script sends them. */
const TEN_COOKIES = Array.from({ length: 10 }, (_, index) => `cookie${index}=value-${index}-of-a-cookie`).join('; ')

/** Works for which a candidate starts with routes and middleware of their own, so that they do not weigh on the others. */
export const MORE_WORKS: readonly Work[] = [
  {
    name: 'many2000',
    title: 'one of 2 000 routes',
    method: 'GET',
    path: '/api/many/r1500/7',
    status: 200,
    answer: '{"route":1500,"id":"7"}'
  },
  {
    name: 'post64k',
    title: '64 KB JSON body',
    isExtra: true,
    share: 0.25,
    method: 'POST',
    path: '/api/notes',
    headers: { 'content-type': 'application/json' },
    body: note(64 * 1024),
    status: 200,
    answer: '{"name":"Ada"}'
  },
  {
    name: 'stream',
    title: '1 MB stream',
    isExtra: true,
    share: 0.05,
    method: 'GET',
    path: '/api/stream',
    status: 200,
    text: STREAM_TEXT
  },
  {
    name: 'static',
    title: 'static file',
    isExtra: true,
    method: 'GET',
    path: '/files/page.html',
    status: 200,
    text: PAGE_TEXT
  },
  {
    name: 'session',
    title: 'ten cookies and a session',
    isExtra: true,
    login: '/api/login',
    method: 'GET',
    path: '/api/session',
    headers: { cookie: TEN_COOKIES },
    status: 200,
    answer: '{"user":"Ada","cookie":"value-7-of-a-cookie"}'
  },
  {
    name: 'validated',
    title: 'validated body',
    isExtra: true,
    refused: WRONG_ORDER_TEXT,
    method: 'POST',
    path: '/api/orders',
    headers: { 'content-type': 'application/json' },
    body: ORDER_TEXT,
    status: 200,
    answer: '{"customer":"Ada","items":5}'
  },
  {
    name: 'list',
    title: 'list of 100 items',
    isExtra: true,
    share: 0.5,
    method: 'GET',
    path: '/api/items',
    status: 200,
    answer: JSON.stringify(ITEMS)
  }
]
