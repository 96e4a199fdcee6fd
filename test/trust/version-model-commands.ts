/** What clients may ask of a versioned bucket, as data that fast-check makes, shrinks and prints. */
import * as fc from 'fast-check'
import type { RetentionMode } from '../../src/records/object-attributes.ts'

/** Few, so that they meet; the last two are ordered by UTF-8 otherwise than by JavaScript. */
export const keys = ['a', 'a/b', 'a/c', 'b', '\uff5e', '\u{1f600}'] as const
export type Key = (typeof keys)[number]

/** Which version a request names. `given`: one of the names that the key was ever given, whatever became of it; `others`: or any key of the bucket. */
export type Pick = 'latest' | 'null' | { given: number } | { others: number } | { unknown: number }

export interface RetentionAsk {
  mode: RetentionMode
  /** From now. */
  hours: number
}

export interface LockAsk {
  retention?: RetentionAsk | undefined
  hold?: boolean | undefined
}

export interface Content {
  seed: number
  tags: readonly string[]
}

export type Command =
  | ({ do: 'put' | 'complete'; key: Key } & Content & LockAsk)
  | ({ do: 'copy'; from: Key; pick: Pick; to: Key } & LockAsk)
  | { do: 'delete'; key: Key }
  | { do: 'remove'; key: Key; pick: Pick; bypass: boolean }
  | { do: 'deleteMany'; objects: readonly { key: Key; pick: Pick }[]; bypass: boolean; quiet: boolean }
  | { do: 'versioning'; status: 'Enabled' | 'Suspended' }
  | { do: 'lockBucket'; rule?: { mode: RetentionMode; days: number } | undefined }
  | { do: 'read'; key: Key; pick: Pick }
  | { do: 'tag'; key: Key; pick: Pick; tags: readonly string[] }
  | { do: 'hold'; key: Key; pick: Pick; on: boolean }
  | { do: 'retain'; key: Key; pick: Pick; retention?: RetentionAsk | undefined; bypass: boolean }
  | { do: 'list' | 'listVersions'; prefix: string; delimiter: string; page: number; after?: Key | undefined }
  | { do: 'empty'; page: number }
  | { do: 'deleteBucket' }
  | { do: 'pass'; hours: number }
  | { do: 'jobs' }

export type Of<K extends Command['do']> = Extract<Command, { do: K }>

export interface Scenario {
  /** Object Lock from the bucket's creation. */
  lock: boolean
  commands: Command[]
}

const commandsMax = 30

/** Two of them more often, so that something comes of it. */
const key = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...keys.slice(0, 2)) },
  { weight: 2, arbitrary: fc.constantFrom(...keys) },
)
const rarely = <T>(some: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: some })
const mode = fc.constantFrom<RetentionMode>('GOVERNANCE', 'COMPLIANCE')
const pick: fc.Arbitrary<Pick> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Pick>('latest') },
  { weight: 1, arbitrary: fc.constant<Pick>('null') },
  { weight: 6, arbitrary: fc.record({ given: fc.nat(8) }) },
  { weight: 1, arbitrary: fc.record({ others: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ unknown: fc.nat(8) }) },
)
const version: fc.Arbitrary<Pick> = pick.filter((picked) => picked !== 'latest')
const retention = fc.record({ mode, hours: fc.integer({ min: 1, max: 40 }) })
const tags = fc.subarray(['x', 'y', 'z'])
const content = { seed: fc.nat(255), tags }
const page = fc.constantFrom(1, 2, 3, 5, 1000)
const listed = {
  prefix: fc.constantFrom('', '', 'a', 'a/', '\u{1f600}'),
  delimiter: fc.constantFrom('', '', '/'),
  page,
  after: rarely(key),
}
/** Most writes ask for no lock; those that do, in a bucket without Object Lock, are refused. */
const lock = {
  retention: rarely(retention),
  hold: rarely(fc.boolean()),
}

const record = <K extends Command['do'], T>(
  name: K,
  fields: { [P in keyof T]: fc.Arbitrary<T[P]> },
): fc.Arbitrary<{ do: K } & T> => fc.record(fields).map((rest) => ({ do: name, ...rest }))

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 20, arbitrary: record('put', { key, ...content, ...lock }) },
  { weight: 3, arbitrary: record('complete', { key, ...content, ...lock }) },
  { weight: 4, arbitrary: record('copy', { from: key, pick, to: key, ...lock }) },
  { weight: 6, arbitrary: record('delete', { key }) },
  { weight: 10, arbitrary: record('remove', { key, pick: version, bypass: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: record('deleteMany', {
      objects: fc.uniqueArray(fc.record({ key, pick }), {
        minLength: 1,
        maxLength: 4,
        selector: (object) => object.key,
      }),
      bypass: fc.boolean(),
      quiet: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: record('versioning', { status: fc.constant('Enabled' as const) }) },
  { weight: 2, arbitrary: record('versioning', { status: fc.constant('Suspended' as const) }) },
  {
    weight: 1,
    arbitrary: record('lockBucket', {
      rule: fc.option(fc.record({ mode, days: fc.integer({ min: 1, max: 2 }) }), { nil: undefined }),
    }),
  },
  { weight: 4, arbitrary: record('read', { key, pick }) },
  { weight: 5, arbitrary: record('tag', { key, pick, tags }) },
  { weight: 5, arbitrary: record('hold', { key, pick, on: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: record('retain', {
      key,
      pick,
      retention: fc.option(retention, { nil: undefined }),
      bypass: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: record('list', listed) },
  { weight: 4, arbitrary: record('listVersions', listed) },
  { weight: 1, arbitrary: record('empty', { page }) },
  { weight: 1, arbitrary: record('deleteBucket', {}) },
  { weight: 2, arbitrary: record('pass', { hours: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 1, arbitrary: record('jobs', {}) },
)

export const scenario: fc.Arbitrary<Scenario> = fc.record({
  lock: fc.boolean(),
  commands: fc.array(command, { minLength: 3, maxLength: commandsMax, size: 'max' }),
})
