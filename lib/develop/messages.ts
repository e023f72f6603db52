import type { AddressInfo } from 'node:net'
import type { ListenPlace } from './divert-listen.js'

/** What a file went through, in the words of chokidar. */
export type FileEvent = 'add' | 'change' | 'unlink'

/** From the development server to the process that runs the application. */
export type ToApp =
  | { type: 'connection'; door: string; id: number }
  | { type: 'listening'; door: string; address: AddressInfo | string }
  | { type: 'not-listening'; door: string; code: string; message: string }
  | { type: 'file'; event: FileEvent; file: string }
  /** To be answered with `alive`. */
  | { type: 'ask' }
  | { type: 'retire' }
  | { type: 'stop' }
  | { type: 'routes' }

/** The other way. */
export type FromApp =
  | { type: 'listen'; door: string; place: ListenPlace }
  | { type: 'leave'; door: string }
  | { type: 'watch'; directories: string[] }
  /** The first application answers, or the page that says why it does not. */
  | { type: 'ready' }
  /** A connection has arrived. */
  | { type: 'connected'; id: number }
  /** A file is loaded: another text of it may end what the process is stuck in. */
  | { type: 'reads'; file: string; digest: string }
  /** The code of a module begins to run, which may be the last thing that is heard; none: the load has ended. */
  | { type: 'runs'; file: string | undefined }
  | { type: 'alive'; isDebugged: boolean }
  /** A file's event has been read, and is a change of the application or none. */
  | { type: 'seen'; isChange: boolean }
  /** The application begins to close. */
  | { type: 'stops' }
  /** It cannot start as the command was called. */
  | { type: 'refused'; message: string }
