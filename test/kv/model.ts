/** Random sequences of commits and reads, against an engine and against a map that anyone can see is right. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Check, Kv, Version } from '../../src/kv/kv.ts'

/** A key's bytes as latin1 text, so that maps can hold it and the order of strings is the order of bytes. */
type ModelKey = string

interface Model {
  values: Map<ModelKey, Buffer>
  /** Versions seen on a key that its present value, if any, must not have. */
  past: Map<ModelKey, Set<Version>>
}

interface Real {
  kv: Kv
  /** Keeps the keys of one run apart from those of others. */
  prefix: string
}

type ModelCheck =
  | { kind: 'current' | 'past' | 'absent'; key: ModelKey }
  | { kind: 'empty'; from: ModelKey; to: ModelKey }

const toKey = (real: Real, key: ModelKey): Buffer => Buffer.from(real.prefix + key, 'latin1')

/** `undefined` where the check cannot be put: there is no such version. */
async function realCheck(model: Model, real: Real, check: ModelCheck): Promise<Check | undefined> {
  if (check.kind === 'empty') return { emptyFrom: toKey(real, check.from), emptyTo: toKey(real, check.to) }
  const key = toKey(real, check.key)
  if (check.kind === 'absent') return { key, absent: true }
  const version =
    check.kind === 'current' ? (await real.kv.get([key]))[0]?.version : [...(model.past.get(check.key) ?? [])].at(-1)
  return version === undefined ? undefined : { key, version }
}

function holds(model: Model, check: ModelCheck): boolean {
  if (check.kind === 'empty') return ![...model.values.keys()].some((key) => check.from <= key && key < check.to)
  if (check.kind === 'absent') return !model.values.has(check.key)
  return check.kind === 'current'
}

class CommitCommand implements fc.AsyncCommand<Model, Real> {
  readonly checks: readonly ModelCheck[]
  readonly changes: ReadonlyMap<ModelKey, Buffer | undefined>

  constructor(checks: readonly ModelCheck[], changes: ReadonlyMap<ModelKey, Buffer | undefined>) {
    this.checks = checks
    this.changes = changes
  }

  check(): boolean {
    return true
  }

  async run(model: Model, real: Real): Promise<void> {
    const checks: Check[] = []
    let expected = true
    for (const modelCheck of this.checks) {
      const check = await realCheck(model, real, modelCheck)
      if (check === undefined) continue
      checks.push(check)
      expected &&= holds(model, modelCheck)
    }
    const puts = []
    const deletes = []
    for (const [modelKey, value] of this.changes) {
      const key = toKey(real, modelKey)
      if (value === undefined) deletes.push(key)
      else puts.push({ key, value })
      const [entry] = await real.kv.get([key])
      if (expected && entry !== undefined) {
        model.past.set(modelKey, (model.past.get(modelKey) ?? new Set()).add(entry.version))
      }
    }
    expect(await real.kv.commit({ checks, puts, deletes })).toBe(expected)
    if (!expected) return
    for (const [key, value] of this.changes) {
      if (value === undefined) model.values.delete(key)
      else model.values.set(key, value)
    }
  }

  toString(): string {
    return `commit(${JSON.stringify([this.checks, [...this.changes]])})`
  }
}

class RangeCommand implements fc.AsyncCommand<Model, Real> {
  readonly start: ModelKey
  readonly end: ModelKey
  readonly limit: number
  readonly reverse: boolean

  constructor(start: ModelKey, end: ModelKey, limit: number, reverse: boolean) {
    this.start = start
    this.end = end
    this.limit = limit
    this.reverse = reverse
  }

  check(): boolean {
    return true
  }

  async run(model: Model, real: Real): Promise<void> {
    const { limit, reverse } = this
    const found = await real.kv.range({ start: toKey(real, this.start), end: toKey(real, this.end), limit, reverse })
    const expected = [...model.values.keys()].filter((key) => this.start <= key && key < this.end).sort()
    if (reverse) expected.reverse()
    expect(found.map(({ key, value }) => [key, value])).toEqual(
      expected.slice(0, limit).map((key) => [toKey(real, key), model.values.get(key)]),
    )
  }

  toString(): string {
    return `range(${JSON.stringify([this.start, this.end, this.limit, this.reverse])})`
  }
}

class GetCommand implements fc.AsyncCommand<Model, Real> {
  readonly keys: readonly ModelKey[]

  constructor(keys: readonly ModelKey[]) {
    this.keys = keys
  }

  check(): boolean {
    return true
  }

  async run(model: Model, real: Real): Promise<void> {
    const found = await real.kv.get(this.keys.map((key) => toKey(real, key)))
    expect(found.map((entry) => entry?.value)).toEqual(this.keys.map((key) => model.values.get(key)))
    for (const [i, key] of this.keys.entries()) {
      const version = found[i]?.version
      if (version !== undefined) expect(model.past.get(key)?.has(version) ?? false).toBe(false)
    }
  }

  toString(): string {
    return `get(${JSON.stringify(this.keys)})`
  }
}

const modelKey = fc
  .array(fc.constantFrom('\0', '\x01', 'k', '\xff'), { minLength: 1, maxLength: 3 })
  .map((characters) => characters.join(''))
const value = fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes))
const modelCheck: fc.Arbitrary<ModelCheck> = fc.oneof(
  fc.record({ kind: fc.constantFrom('current', 'past', 'absent'), key: modelKey }),
  fc.record({ kind: fc.constant('empty'), from: modelKey, to: modelKey }),
)
const changes = (maxLength: number): fc.Arbitrary<Map<ModelKey, Buffer | undefined>> =>
  fc.array(fc.tuple(modelKey, fc.option(value, { nil: undefined })), { maxLength }).map((pairs) => new Map(pairs))

const commands = fc.commands(
  [
    fc.tuple(modelKey, value).map(([key, written]) => new CommitCommand([], new Map([[key, written]]))),
    modelKey.map((key) => new CommitCommand([], new Map([[key, undefined]]))),
    fc.tuple(fc.array(modelCheck, { maxLength: 2 }), changes(4)).map((args) => new CommitCommand(...args)),
    fc.tuple(modelKey, modelKey, fc.nat({ max: 5 }), fc.boolean()).map((args) => new RangeCommand(...args)),
    fc.array(modelKey, { maxLength: 4 }).map((keys) => new GetCommand(keys)),
  ],
  { maxCommands: 40 },
)

let runs = 0

export function itAgreesWithItsModel(kv: () => Kv): void {
  it('agrees with a plain map over random sequences', async () => {
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        const prefix = `run ${++runs}/`
        const setup = (): { model: Model; real: Real } => ({
          model: { values: new Map(), past: new Map() },
          real: { kv: kv(), prefix },
        })
        await fc.asyncModelRun(setup, sequence)
      }),
      { numRuns: 60 },
    )
  })
}
