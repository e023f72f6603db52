export {
  expressFactory as default,
  expressFactory as express,
  json,
  raw,
  Router,
  serveStatic as static,
  text,
  urlencoded,
  type TwinrouteExpress
} from './app/express-app.js'
