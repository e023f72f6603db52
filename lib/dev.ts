export { checkRoutes, type CheckRoutesOptions, type RoutesCheck } from './develop/check-routes.js'
export { develop, type DevelopOptions } from './develop/develop.js'
export { keep } from './develop/keep.js'
