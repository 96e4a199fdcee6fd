/** Opens metadata in PostgreSQL for tests that are not about a database that is away: a busy machine can take longer for a session than a gateway waits. */
import type { Kv } from '../../src/kv/kv.ts'
import { openPostgres, type PostgresOptions } from '../../src/kv/postgres.ts'
import { patientKv } from '../../src/opening/metadata/patient-kv.ts'
import { untilAvailable } from '../../src/opening/metadata/until-available.ts'

const patienceMs = 60_000

/** The engine as a gateway has it. Only its opening is repeated. */
export const openedPostgres = (options: PostgresOptions): Promise<Kv> =>
  untilAvailable(patienceMs, () => openPostgres(options))

/** Every call is repeated, for tests to which the engine only serves. */
export const patientPostgres = async (options: PostgresOptions): Promise<Kv> => patientKv(await openedPostgres(options))
