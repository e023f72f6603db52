// Compiled with types that openapi-typescript makes of the example's document. Each row compiles, but for the line below a
// `@ts-expect-error`, which must not.
import createClient from 'openapi-fetch'
import type { paths } from './api.js'

const client = createClient<paths>({ baseUrl: 'http://localhost:5000' })
const headers = { authorization: 'Bearer token' }

// row: a list with a query
export async function list(): Promise<string[]> {
  const { data } = await client.GET('/api/posts', { params: { query: { page: 1, sortOrder: 'asc', search: 'x' } } })
  return data?.data.map(({ title, createdAt }) => title + createdAt) ?? []
}

// row: a parameter of the path, and an error that is declared
export async function read(): Promise<string> {
  const { data, error } = await client.GET('/api/posts/{postId}', { params: { path: { postId: 'x' } } })
  return error === undefined ? data.data.title : error.error.code
}

// row: a body, and the status of the answer
export async function create(): Promise<string> {
  const { data } = await client.POST('/api/posts', { body: { title: 'One', category: 'Food' }, headers })
  return data?.data.id ?? ''
}

// row: errors in the flat form
export async function logIn(): Promise<string> {
  const { data, error } = await client.POST('/api/auth/login', { body: { email: 'a@b.cd', password: 'x' } })
  if (data !== undefined) return data.token
  return typeof error.error === 'string' ? error.error : error.error.code
}

// row: a form with files
export async function upload(form: FormData): Promise<number[]> {
  const { data } = await client.POST('/api/uploads', { body: { file: [] }, bodySerializer: () => form, headers })
  return data?.files.map(({ size }) => size) ?? []
}

// row: an answer without a body
export async function remove(): Promise<undefined> {
  const { data } = await client.DELETE('/api/posts/{postId}', { params: { path: { postId: 'x' } }, headers })
  return data
}

// row: a page or JSON
export async function info(): Promise<string> {
  const { data } = await client.GET('/api/public/info', { parseAs: 'text' })
  return String(data)
}

// row: a header
export async function version2(): Promise<number> {
  const { data } = await client.GET('/api/users', { params: { header: { 'x-api-version': 'v2' } } })
  return data?.data.length ?? 0
}

// row: statuses by name
type Created = paths['/api/users']['post']['responses'][201]['content']['application/json']
export const created = (body: Created): string => body.data.email

// row: a wrong path is refused
export function wrongPath() {
  // @ts-expect-error
  return client.GET('/api/post')
}

// row: a method that the path does not have is refused
export function wrongMethod() {
  // @ts-expect-error
  return client.DELETE('/api/categories')
}

// row: a missing parameter is refused
export function noParameter() {
  // @ts-expect-error
  return client.GET('/api/posts/{postId}')
}

// row: a wrong body is refused
export function wrongBody() {
  // @ts-expect-error
  return client.POST('/api/posts', { body: { title: 1 } })
}

// row: a missing body is refused
export function noBody() {
  // @ts-expect-error
  return client.POST('/api/posts')
}

// row: a wrong query is refused
export function wrongQuery() {
  // @ts-expect-error
  return client.GET('/api/posts', { params: { query: { sortOrder: 'down' } } })
}

// row: a status that is not declared is refused
// @ts-expect-error
type Unknown = paths['/api/users']['post']['responses'][202]
export type { Unknown }

// row: a key that the answer does not have is refused
export async function wrongKey(): Promise<unknown> {
  const { data } = await client.GET('/api/users/{userId}', { params: { path: { userId: 'x' } } })
  // @ts-expect-error
  return data?.data.password
}
