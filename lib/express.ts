import { expressFactory } from './app/express-app.js'

export default expressFactory
export { expressFactory as express }
export const { Router, json, raw, text, urlencoded, static: serveStatic } = expressFactory
export { serveStatic as static }
export type { TwinrouteExpress } from './app/express-app.js'
