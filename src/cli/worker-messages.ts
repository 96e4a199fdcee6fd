/** What the primary and its workers tell each other. */
import type { Account } from '../auth/credentials.ts'
import type { Configuration } from '../config/configuration.ts'
import type { KeyPair } from '../http/tls-front.ts'

/** What every serving process applies when the configuration is read again. */
export interface Renewal {
  accounts: readonly Account[]
  logFile: string | undefined
}

export type ToWorker =
  /** Answers `started`. Sent over the channel, not by environment or arguments, which other users may read: it holds secrets. */
  | { kind: 'serve'; configuration: Configuration; instanceId: string; keyPair: KeyPair | undefined }
  /** Comes with an accepted connection; answered by `took`. */
  | { kind: 'connection'; id: number }
  | { kind: 'renew-tls'; keyPair: KeyPair }
  | { kind: 'renew'; renewal: Renewal }
  | { kind: 'drain' }

export type FromWorker =
  | { kind: 'started' }
  | { kind: 'ready' }
  | { kind: 'took'; id: number }
  | { kind: 'failed'; message: string }
