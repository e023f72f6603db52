// tap's runner has every test file, and every process that a test starts, load module hooks which list the files that were
// loaded, for coverage. Nobody asks for coverage here, and the hooks cost each process a thread and about as much time as its
// start. Node loads this file before them (`--require` comes before `--import`), so that tests, and what they start, run as
// the programs of users do.
import type AsyncHooks from 'node:async_hooks'
import type Module from 'node:module'

const loader = require('node:module') as typeof Module

const { register } = loader

loader.register = ((specifier: string | URL, ...rest: []) => {
  if (!String(specifier).includes('/@tapjs/')) register(specifier, ...rest)
}) as typeof register

// tap follows every promise and callback, to tell which test has caused an error that nothing catches. That takes a tenth to a
// fifth of all time. Without it such an error ends its file, with its stack.
const hooks = require('node:async_hooks') as typeof AsyncHooks
// Node 22 loads this class when it is first read, and the class then makes a hook of its own.
void hooks.AsyncLocalStorage
const unused: AsyncHooks.AsyncHook = { enable: () => unused, disable: () => unused }
hooks.createHook = () => unused
loader.syncBuiltinESMExports()

// Read by @tapjs/processinfo: the process that has this id does not hand the hooks to its children.
process.env.__TAPJS_PROCESSINFO_TESTING_NO_REGISTER__ = String(process.pid)
