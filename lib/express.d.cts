import expressFactory = require('./contract/express-factory.cjs')
export = expressFactory
