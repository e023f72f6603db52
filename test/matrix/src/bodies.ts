import { equal, match, ok } from 'node:assert/strict'
import bodyParser from 'body-parser'
import Busboy from 'busboy'
import express from 'express'
import fileUpload from 'express-fileupload'
import mongoSanitize from 'express-mongo-sanitize'
import { body, query, validationResult } from 'express-validator'
import formidable from 'formidable'
import hpp from 'hpp'
import methodOverride from 'method-override'
import multer from 'multer'
import { type Case, multipart } from './harness.js'

const form = { 'content-type': 'application/x-www-form-urlencoded' }

const cases: Case[] = [
  {
    name: 'body-parser',
    job: 'parses JSON, rejects malformed JSON',
    middleware: () => [bodyParser.json({ limit: 100 }), bodyParser.urlencoded({ extended: true })],
    handler: (request) => ({ body: request.body }),
    async check(call) {
      equal((await call('POST /api/x', { body: { a: 1 } })).json.body.a, 1)
      equal((await call('POST /api/x', { headers: form, body: 'a[b]=1' })).json.body.a.b, '1')
      equal((await call('POST /api/x', { headers: { 'content-type': 'application/json' }, body: '{' })).status, 400)
      equal((await call('POST /api/x', { body: { a: 'x'.repeat(200) } })).status, 413)
    }
  },
  {
    name: 'multer',
    job: 'reads a file and fields; parsers before and after it',
    middleware: () => [
      express.json(),
      express.urlencoded(),
      multer({ limits: { fileSize: 1000 } }).single('file'),
      express.json()
    ],
    handler: (request) => ({
      body: { ...request.body },
      file: request.file?.buffer.toString(),
      name: request.file?.originalname
    }),
    async check(call) {
      const { json } = await call('POST /api/x', multipart())
      equal(json.body.title, 'a title')
      equal(json.file, 'the file')
      equal(json.name, 'a.txt')
      equal((await call('POST /api/x', { body: { a: 1 } })).json.body.a, 1)
      equal((await call('POST /api/x', multipart({}, 'x'.repeat(2000)))).status, 500)
    }
  },
  {
    name: 'express-fileupload',
    job: 'reads a file behind a JSON parser',
    middleware: () => [express.json(), fileUpload()],
    handler: (request) => ({ body: request.body, file: request.files?.file.data.toString() }),
    async check(call) {
      const { json } = await call('POST /api/x', multipart())
      equal(json.body.title, 'a title')
      equal(json.file, 'the file')
    }
  },
  {
    name: 'formidable',
    job: 'parses the form in middleware',
    middleware: () => [
      async (request: any, _response: any, next: any) => {
        const [fields, files] = await formidable({}).parse(request)
        request.form = { title: fields.title?.[0], size: files.file?.[0].size }
        next()
      }
    ],
    handler: (request) => request.form,
    async check(call) {
      const { json } = await call('POST /api/x', multipart())
      equal(json.title, 'a title')
      equal(json.size, 8)
    }
  },
  {
    name: 'busboy',
    job: 'gets the request piped',
    middleware: () => [
      (request: any, _response: any, next: any) => {
        const parser = Busboy({ headers: request.headers })
        request.form = {}
        parser.on('field', (name, value) => (request.form[name] = value))
        parser.on('file', (name, stream) => stream.on('data', (part) => (request.form[name] = part.toString())))
        parser.on('close', () => next()).on('error', next)
        request.pipe(parser)
      }
    ],
    handler: (request) => request.form,
    async check(call) {
      equal((await call('POST /api/x', multipart())).json.file, 'the file')
    }
  },
  {
    name: 'method-override',
    job: 'turns POST into another method, by header and by body',
    middleware: () => [
      express.urlencoded(),
      methodOverride('X-HTTP-Method-Override'),
      methodOverride((request) => request.body?._method)
    ],
    handler: (request, response) => response.json({ method: request.method }),
    async check(call) {
      equal((await call('POST /api/x', { headers: { 'x-http-method-override': 'PUT' } })).json.method, 'PUT')
      equal((await call('POST /api/x', { headers: form, body: '_method=DELETE' })).json.method, 'DELETE')
      equal((await call('POST /api/x')).json.method, 'POST')
    }
  },
  {
    name: 'express-validator',
    job: 'validates and sanitizes body and query',
    middleware: () => [express.json(), body('email').isEmail().normalizeEmail(), query('page').optional().toInt()],
    handler(request, response) {
      const errors = validationResult(request)
      return errors.isEmpty() ? { email: request.body.email } : response.status(400).json({ errors: errors.array() })
    },
    async check(call) {
      equal((await call('POST /api/x?page=2', { body: { email: 'A@Example.com' } })).json.email, 'a@example.com')
      const refused = await call('POST /api/x', { body: { email: 'x' } })
      equal(refused.status, 400)
      equal(refused.json.errors[0].path, 'email')
    }
  },
  {
    name: 'hpp',
    job: 'takes one value of repeated parameters',
    middleware: () => [express.urlencoded({ extended: false }), hpp()],
    handler: (request) => ({ query: request.query, polluted: request.queryPolluted, body: request.body }),
    async check(call) {
      const { json } = await call('POST /api/x?a=1&a=2', { headers: form, body: 'b=1&b=2' })
      equal(json.query.a, '2')
      equal(json.polluted.a.length, 2)
      equal(json.body.b, '2')
    }
  },
  {
    name: 'express-mongo-sanitize',
    job: 'removes operators; assigns request.query (fails on Express 5)',
    middleware: () => [express.json(), mongoSanitize()],
    handler: (request) => ({ query: request.query, body: request.body }),
    async check(call) {
      const { json } = await call('POST /api/x?$where=1&a=b', { body: { name: { $gt: '' } } })
      equal(Object.keys(json.query).join(), 'a')
      equal(Object.keys(json.body.name).length, 0)
    }
  },
  {
    name: 'express.raw (webhooks)',
    version: () => '',
    job: 'gives the exact bytes of a signed webhook',
    middleware: () => [express.raw({ type: '*/*' })],
    handler: (request) => ({ bytes: request.body.toString() }),
    async check(call) {
      const { json } = await call('POST /api/x', {
        headers: { 'content-type': 'application/json' },
        body: '{ "a" : 1 }'
      })
      match(json.bytes, /^\{ "a" : 1 \}$/)
      ok(json)
    }
  }
]

export default cases
