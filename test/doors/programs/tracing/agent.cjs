// An agent that patches the `express` package; it sends nothing, `globalThis.seen()` has its transactions.
const transactions = []
const nothing = () => {}
const called = (_data, done) => done?.()
const transport = {
  config: nothing,
  addMetadataFilter: nothing,
  setExtraMetadata: nothing,
  lambdaStart: nothing,
  lambdaShouldRegisterTransactions: () => false,
  supportsKeepingUnsampledTransaction: () => true,
  sendSpan: called,
  sendError: called,
  sendMetricSet: called,
  sendTransaction(transaction, done) {
    transactions.push(`${transaction.name} | ${transaction.result}`)
    done?.()
  },
  flush: (options, done = options) => done?.(),
  destroy: nothing
}
require('elastic-apm-node').start({
  serviceName: 'doors',
  centralConfig: false,
  cloudProvider: 'none',
  metricsInterval: '0s',
  logLevel: 'off',
  transport: () => transport
})
globalThis.seen = () => transactions.sort()
