import express from 'express'
import type expressFactoryType from '../contract/express-factory.cjs'
import { createExpressApp } from './express-app.js'

const { application, json, raw, request, response, Router, static: serveStatic, text, urlencoded } = express

/** In Express, though not in its types. */
export const Route: unknown = Reflect.get(express, 'Route')

const statics = { application, json, raw, request, response, Route, Router, static: serveStatic, text, urlencoded }

/** The factory with what Express's own has on it, and itself by name. */
export const expressFactory: typeof expressFactoryType = Object.assign(createExpressApp, statics, {
  express: createExpressApp as typeof expressFactoryType
})
