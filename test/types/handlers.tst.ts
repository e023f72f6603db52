import type { Request as ExpressRequest, Response as ExpressResponse } from 'express'
import { describe, expect, test } from 'tstyche'
import type {
  CookieItem,
  FormFile,
  Handler,
  NextFunction,
  Request,
  RequestCookies,
  RequestFormData,
  Response,
  StatusObject,
  UploadedFile
} from 'twinroute'

describe('Handler', () => {
  test('takes what route files export', () => {
    expect<Handler>().type.toBeAssignableFrom(() => ({ status: 'healthy' }))
    expect<Handler>().type.toBeAssignableFrom((request: Request) => ({ id: request.params.userId }))
    expect<Handler>().type.toBeAssignableFrom(async (_request: Request, response: Response) => {
      response.status(201).json({ ok: true })
    })
    expect<Handler>().type.toBeAssignableFrom(function* () {
      yield 'a chunk'
    })
  })

  test('may take next, as an Express handler does', () => {
    expect<Handler>().type.toBeAssignableFrom((_request: Request, _response: Response, next: NextFunction) => next())
  })
})

describe('Request', () => {
  test('leaves open what the application decides', () => {
    expect<Request['body']>().type.toBe<any>()
    expect<Request['user']>().type.toBe<any>()
    expect<Request['session']>().type.toBe<any>()
    expect<Request['authInfo']>().type.toBe<any>()
  })

  test('knows what the framework sets', () => {
    expect<Request['requestId']>().type.toBe<string>()
    expect<Request['sessionID']>().type.toBe<string | undefined>()
    expect<Request['cspNonce']>().type.toBe<string | undefined>()
    expect<Request['signal']>().type.toBe<AbortSignal>()
    expect<Request>().type.toHaveProperty('formData')
    expect<ReturnType<Request['formData']>>().type.toBeAssignableTo<Promise<FormData>>()
    expect<Request['cookies']>().type.toBeAssignableTo<RequestCookies>()
    expect<ReturnType<RequestCookies['get']>>().type.toBe<CookieItem | undefined>()
    expect<ReturnType<RequestCookies['all']>>().type.toBe<Record<string, string>>()
    expect<UploadedFile['size']>().type.toBe<number>()
    expect<Request['file']>().type.toBe<UploadedFile | undefined>()
    expect<Request['files']>().type.toBe<UploadedFile[] | Record<string, UploadedFile[]> | undefined>()
    expect<Request<{ files: { path: string }[] }>['files']>().type.toBe<{ path: string }[]>()
  })

  test("has Express's members with Express's types", () => {
    expect<Request['get']>().type.toBe<ExpressRequest['get']>()
    expect<Request['accepts']>().type.toBe<ExpressRequest['accepts']>()
    expect<Request['ip']>().type.toBe<ExpressRequest['ip']>()
    expect<Request['headers']>().type.toBe<ExpressRequest['headers']>()
    expect<Response>().type.toBeAssignableTo<ExpressResponse>()
  })

  test('has forms whose files say where they lie', async () => {
    const form = await ({} as Request).formData()
    expect(form).type.toBe<RequestFormData>()
    expect(form.getAll('avatar')).type.toBe<(string | FormFile)[]>()
    const file = form.get('avatar')
    expect(file).type.toBeAssignableFrom<string | null>()
    if (typeof file === 'object' && file !== null) expect(file.path).type.toBe<string>()
  })
})

describe('StatusObject', () => {
  test('is a number, headers and a body', () => {
    expect<StatusObject>().type.toBeAssignableFrom<{ status: 201; body: { id: number } }>()
    expect<StatusObject>().type.toBeAssignableFrom<{ status: number; headers: { 'set-cookie': string[] } }>()
    expect<StatusObject>().type.not.toBeAssignableFrom<{ status: 'healthy' }>()
    expect<StatusObject>().type.not.toBeAssignableFrom<{ body: string }>()
  })
})
