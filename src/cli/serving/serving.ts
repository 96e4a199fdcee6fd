/** What serves the S3 port, in this process or in workers, and what it is made of. */
import type { AuditLog } from '../../audit/audit-log.ts'
import type { Traces } from '../../spans.ts'
import type { Instance } from '../instance.ts'
import type { Log } from '../log.ts'
import type { WorkersAhead } from './fork-workers.ts'
import type { KeyPairFiles } from './key-pair-files.ts'
import type { Workers } from './workers.ts'

export type Serving = Omit<Workers, 'teach'>

export interface ServingParts {
  instance: Instance
  keyPairFiles: KeyPairFiles | undefined
  /** They wait for their first order. */
  ahead: WorkersAhead
  log: Log
  audit: AuditLog
  traces: Traces | undefined
  consoleOrigins(): readonly string[]
}
