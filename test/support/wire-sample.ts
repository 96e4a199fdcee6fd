/**
 * A sample of the rows of the wire tests, some of every operation, over a server of the suite's own: what it keeps its metadata in must change no answer. `npm run trust` runs all
 * rows. Each row runs in one form here: the forms are for the tests over memory.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, describe } from 'vitest'
import { isTrust } from './turns.ts'
import { styles } from './wire-client.ts'
import { wireServer } from './wire-fixture.ts'
import { collectWireTests, rawTests } from './wire-rows.ts'
import type { WireServerOptions } from './wire-server.ts'

const folder = new URL('../wire/', import.meta.url)
const ofRows = readdirSync(folder)
  .filter((name) => name.endsWith('.test.ts') && /^wireTests\(/m.test(readFileSync(new URL(name, folder), 'utf8')))
  .map((name) => name.replace('.test.ts', ''))

/** One row in so many. */
const step = isTrust ? 1 : 40

/** Call it at the top of a suite, and its result within one. */
export async function wireSample(): Promise<(options: WireServerOptions) => void> {
  const collected = await collectWireTests(() => Promise.all(ofRows.map((name) => import(`../wire/${name}.test.ts`))))
  const operations = collected.filter(({ needsOptions }) => !needsOptions)
  return (options) => {
    const server = wireServer(options)
    afterEach(() => server.empty())
    describe.each(operations.map(({ operation, rows }, at) => ({ operation, rows, at })))(
      '$operation',
      ({ operation, rows, at }) => {
        const sample = rows.filter((_, i) => (i + at) % step === 0 || (i === 0 && rows.length < step))
        for (const [turn, style] of styles.entries())
          rawTests(
            style,
            sample.filter((_, i) => (i + at) % styles.length === turn),
            { server, operation },
          )
      },
    )
  }
}
