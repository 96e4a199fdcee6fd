/** Checks whether PostgreSQL still holds what was committed. The server verifies its own pages; this verifies every record against its own checksum. */
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../../clock.ts'
import { coversVersion } from '../entry-version.ts'
import type { CheckHow, CheckReport, Integrity, Key } from '../kv.ts'
import { readReport } from '../read-report.ts'
import { atOneMoment } from './reader.ts'
import type { Row, Session } from './session.ts'
import type { Sessions } from './sessions.ts'
import { byteaOf } from './wire-arrays.ts'

const pageEntries = 500
const damagedShownMax = 10
const noteName = 'last check'

export class PostgresIntegrity implements Integrity {
  readonly #sessions: Sessions
  readonly #isWhole: (key: Key, value: Buffer) => boolean
  #checking: Promise<CheckReport> | undefined

  constructor(sessions: Sessions, isWhole: (key: Key, value: Buffer) => boolean) {
    this.#sessions = sessions
    this.#isWhole = isWhole
  }

  check(how: CheckHow = {}): Promise<CheckReport> {
    this.#checking ??= this.#sessions
      .use((session) => this.#checkIn(session, how))
      .finally(() => {
        this.#checking = undefined
      })
    return this.#checking
  }

  async #checkIn(session: Session, { pace }: CheckHow): Promise<CheckReport> {
    const coversBelow = await versionOfAllDone(session)
    const report: CheckReport = {
      startedMs: systemClock.now(),
      entries: 0,
      coversBelow,
      damagedRecords: 0,
      damagedKeys: [],
    }
    await atOneMoment(session, async () => {
      let start: Key = Buffer.alloc(0)
      let rows: Row[]
      do {
        rows = await session.run({
          name: 'check page',
          text: 'select key, value from holdfast_entries where key > $1 order by key limit $2',
          values: [start, pageEntries],
        })
        let bytes = 0
        for (const [keyText, valueText] of rows) {
          const [key, value] = [byteaOf(keyText ?? ''), byteaOf(valueText ?? '')]
          start = key
          bytes += key.length + value.length
          report.entries++
          if (this.#isWhole(key, value)) continue
          report.damagedRecords++
          if (report.damagedKeys.length < damagedShownMax) report.damagedKeys.push(key.toString('latin1'))
        }
        await pace?.(bytes)
      } while (rows.length === pageEntries)
    })
    await session.run({
      text: 'insert into holdfast_notes values ($1, $2) on conflict (name) do update set value = excluded.value',
      values: [noteName, JSON.stringify(report)],
    })
    return report
  }

  /** Never any: the server itself refuses pages that it finds damaged. */
  async damage(): Promise<undefined> {
    return undefined
  }

  lastCheck(): Promise<CheckReport | undefined> {
    return this.#sessions.use(async (session) => {
      const text = 'select value from holdfast_notes where name = $1'
      const [row] = await session.run({ text, values: [noteName] })
      return row?.[0] == null ? undefined : readReport(row[0])
    })
  }

  covers = coversVersion

  // Runs need no tracking: a gateway that dies cannot leave the database in a state that the next one must check.
  async beginRun(): Promise<void> {}
  async endRun(): Promise<void> {}
  async distrust(): Promise<void> {}
}

/** A version such that every write with a smaller one has been committed or never will be. */
async function versionOfAllDone(session: Session): Promise<number> {
  const text = "select nextval('holdfast_versions'), pg_snapshot_xmax(pg_current_snapshot())"
  const [[version, newest] = []] = await session.run({ text })
  while (true) {
    const [row] = await session.run({
      text: 'select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8',
      values: [newest ?? null],
    })
    if (row?.[0] === 't') return Number(version)
    await delay(20)
  }
}
