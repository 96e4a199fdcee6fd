/**
 * The rows of writers in the database: who made a batch, and what became of its last one. A killed process leaves its rows behind, so each process that opens the database purges old ones, and
 * notes how far. So a writer whose row is missing knows whether the row can have been purged, or was lost with all that it said.
 */
import { randomId, systemClock } from '../../clock.ts'
import { limits } from '../../limits.ts'
import type { WriterId } from './commit-batch.ts'
import type { Session } from './session.ts'

export interface RegisteredWriter extends WriterId {
  /** By the database's clock, in seconds, as exact as the database keeps it. */
  opened: string
  /** By `performance.now`. */
  registeredMs: number
}

const noteName = 'writers purged'

/** Makes a row for a new writer. It replaces the row of `before`, if given, which has no batch of unknown outcome. */
export async function registerWriter(session: Session, before?: WriterId): Promise<RegisteredWriter> {
  const id = randomId(systemClock)
  const registeredMs = performance.now()
  const text = `with replaced as (delete from holdfast_writers where id = $2)
    insert into holdfast_writers (id, epoch, last, failed) values ($1, 1, 0, '{}') returning extract(epoch from opened)`
  const [row] = await session.run({ text, values: [id, before?.id ?? null] })
  return { id, epoch: '1', opened: row?.[0] ?? '', registeredMs }
}

/** Old rows are purged, so a batch is sent only under a row that is much younger than those. */
export const isToBeReplaced = ({ registeredMs }: RegisteredWriter): boolean =>
  performance.now() - registeredMs > limits.writerRenewedMs

export async function removeWriter(session: Session, { id }: WriterId): Promise<void> {
  await session.run({ text: 'delete from holdfast_writers where id = $1', values: [id] })
}

/** In one transaction, removes old rows and notes how young the youngest of them was. */
export async function purgeWriters(session: Session): Promise<void> {
  const text = `with purged as (
      delete from holdfast_writers where opened < now() - $2 * interval '1 millisecond' returning opened)
    insert into holdfast_notes select $1, extract(epoch from max(opened))::text from purged having count(*) > 0
    on conflict (name) do update set value = greatest(holdfast_notes.value::numeric, excluded.value::numeric)::text`
  await session.run({ text, values: [noteName, limits.writerPurgedMs] })
}

/** Whether the writer's missing row can have been purged. Ask in the session that missed it, and afterwards, so that it sees all that the same server has purged. */
export async function mayBePurged(session: Session, { opened }: RegisteredWriter): Promise<boolean> {
  const text = 'select value::numeric >= $2::numeric from holdfast_notes where name = $1'
  const [row] = await session.run({ text, values: [noteName, opened] })
  return row?.[0] === 't'
}
