export { develop, type DevelopOptions } from './develop/develop.js'
export { keep } from './develop/keep.js'
