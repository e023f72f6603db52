import 'reflect-metadata'
import { Controller, Get, Module, Param, Query, type INestApplication } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import express from 'twinroute/express'
import { portOf } from '../listening.js'

class Answers {
  hello(): object {
    return { hello: 'world' }
  }

  user(id: string, page: string): object {
    return { id, page }
  }
}

class Application {
  readonly name = 'benchmark'
}

// As decorators would, without the compiler's experimental ones.
route('hello', 'hello')
route('user', 'users/:id')
Param('id')(Answers.prototype, 'user', 0)
Query('page')(Answers.prototype, 'user', 1)
Controller('api')(Answers)
Module({ controllers: [Answers] })(Application)

function route(method: keyof Answers, path: string): void {
  const descriptor = Object.getOwnPropertyDescriptor(Answers.prototype, method) as PropertyDescriptor
  Get(path)(Answers.prototype, method, descriptor)
}

async function listening(app: INestApplication): Promise<number> {
  await app.listen(0, '127.0.0.1')
  return portOf(app.getHttpServer())
}

const quiet = { logger: false } as const

export const onExpress = async (): Promise<number> =>
  listening(await NestFactory.create(Application, new ExpressAdapter(), quiet))
export const onTwinroute = async (): Promise<number> =>
  listening(await NestFactory.create(Application, new ExpressAdapter(express()), quiet))
export const onFastify = async (): Promise<number> =>
  listening(await NestFactory.create(Application, new FastifyAdapter(), quiet))
