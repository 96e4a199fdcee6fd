/** Conditions by rows: every combination that RFC 9110 and S3's conditional writes distinguish. */
import { describe, expect, it } from 'vitest'
import {
  checkCopySource,
  checkDelete,
  checkRead,
  checkWrite,
  type DeleteConditions,
  etagListed,
  type ReadConditions,
} from '../../src/rules/preconditions.ts'
import { outcomeOf } from '../objects/fixture.ts'

const etag = '5d41402abc4b2a76b9719d911017c592'
const second = Date.UTC(2026, 0, 2, 3, 4, 5)
/** Stored times have milliseconds; HTTP dates have not. */
const existing = { etag, modifiedMs: second + 678 }
const nowMs = second + 60_000
const clock = { now: () => nowMs }

describe('a list of entity tags', () => {
  it.each([
    [`"${etag}"`, true],
    [etag, true],
    [`W/"${etag}"`, false],
    [`"other", "${etag}"`, true],
    [`"other",W/"${etag}"`, false],
    [`  "${etag}"  `, true],
    ['*', true],
    [' * ', true],
    ['"*"', false],
    ['"other"', false],
    ['', false],
    ['""', false],
    ['"', false],
    [`"${etag}`, true],
    [`"${etag}-2"`, false],
    [`"${etag.toUpperCase()}"`, false],
    [`"${etag.slice(1)}"`, false],
    ['"other", *', false],
  ])('%s names it: %s', (list, expected) => {
    expect(etagListed(list, etag)).toBe(expected)
  })
})

/** How each condition may stand towards the object. */
const matches = { yes: `"${etag}"`, no: '"other"', absent: undefined }
const dates = { before: second - 1000, same: second, after: second + 1000, absent: undefined }

type Match = keyof typeof matches
type When = keyof typeof dates

/** RFC 9110 section 13.2.2, as a decision table. `undefined` in a cell: whatever it is. */
const readRows: { im?: Match; ius?: When; inm?: Match; ims?: When; expected: string }[] = [
  { im: 'no', expected: 'PreconditionFailed' },
  { im: 'absent', ius: 'before', expected: 'PreconditionFailed' },
  { inm: 'yes', expected: 'NotModified' },
  { inm: 'absent', ims: 'same', expected: 'NotModified' },
  { inm: 'absent', ims: 'after', expected: 'NotModified' },
  { expected: 'ok' },
]

function expectedRead(given: { im: Match; ius: When; inm: Match; ims: When }): string {
  const row = readRows.find(
    ({ im = given.im, ius = given.ius, inm = given.inm, ims = given.ims }) =>
      im === given.im && ius === given.ius && inm === given.inm && ims === given.ims,
  )
  return row?.expected ?? 'no row'
}

const matchNames = Object.keys(matches) as Match[]
const whenNames = Object.keys(dates) as When[]
const allReads = matchNames.flatMap((im) =>
  whenNames.flatMap((ius) => matchNames.flatMap((inm) => whenNames.map((ims) => ({ im, ius, inm, ims })))),
)

function readConditions({ im, ius, inm, ims }: (typeof allReads)[number]): ReadConditions {
  return {
    ifMatch: matches[im],
    ifUnmodifiedSinceMs: dates[ius],
    ifNoneMatch: matches[inm],
    ifModifiedSinceMs: dates[ims],
  }
}

describe('conditions of a read', () => {
  it.each(allReads)('If-Match $im, If-Unmodified-Since $ius, If-None-Match $inm, If-Modified-Since $ims', (given) => {
    expect(outcomeOf(() => checkRead(readConditions(given), existing, clock))).toBe(expectedRead(given))
  })

  it.each(allReads)('of a copy source, where nothing is Not Modified: $im, $ius, $inm, $ims', (given) => {
    const expected = expectedRead(given) === 'ok' ? 'ok' : 'PreconditionFailed'
    expect(outcomeOf(() => checkCopySource(readConditions(given), existing, clock))).toBe(expected)
  })

  it.each([
    [{ ifMatch: '*' }, 'ok'],
    [{ ifNoneMatch: '*' }, 'NotModified'],
    [{ ifMatch: `"other", W/"${etag}"` }, 'PreconditionFailed'],
    [{ ifNoneMatch: `W/"${etag}"` }, 'NotModified'],
    [{ ifNoneMatch: `"other", "${etag}"` }, 'NotModified'],
    [{ ifMatch: '' }, 'PreconditionFailed'],
    [{ ifNoneMatch: '' }, 'ok'],
    [{ ifUnmodifiedSinceMs: second - 1 }, 'PreconditionFailed'],
    [{ ifModifiedSinceMs: second - 1 }, 'ok'],
    [{ ifModifiedSinceMs: nowMs }, 'NotModified'],
    // Nobody can have read it then.
    [{ ifModifiedSinceMs: nowMs + 1 }, 'ok'],
    [{ ifMatch: `"${etag}` }, 'ok'],
    [{ ifMatch: `${etag}"` }, 'ok'],
    [{ ifMatch: '"' }, 'PreconditionFailed'],
    [{}, 'ok'],
  ] satisfies [ReadConditions, string][])('%j: %s', (conditions, expected) => {
    expect(outcomeOf(() => checkRead(conditions, existing, clock))).toBe(expected)
  })

  it('a 304 carries what a cache needs to go on', () => {
    expect(() => checkRead({ ifNoneMatch: '*' }, existing, clock)).toThrow(
      expect.objectContaining({
        status: 304,
        headers: { ETag: `"${etag}"`, 'Last-Modified': 'Fri, 02 Jan 2026 03:04:05 GMT' },
      }),
    )
  })

  it('says which condition failed', () => {
    const named = (condition: string) => expect.objectContaining({ details: { Condition: condition } })
    expect(() => checkRead({ ifMatch: '"other"' }, existing, clock)).toThrow(named('If-Match'))
    expect(() => checkRead({ ifUnmodifiedSinceMs: 0 }, existing, clock)).toThrow(named('If-Unmodified-Since'))
    expect(() => checkCopySource({ ifNoneMatch: '*' }, existing, clock)).toThrow(
      expect.objectContaining({ vendorDetails: { Condition: 'copy-source-If-None-Match' } }),
    )
    expect(() => checkCopySource({ ifModifiedSinceMs: second }, existing, clock)).toThrow(
      expect.objectContaining({ vendorDetails: { Condition: 'copy-source-If-Modified-Since' } }),
    )
    expect(() => checkCopySource({ ifMatch: 'x' }, existing, clock)).toThrow(
      expect.objectContaining({ vendorDetails: { Condition: 'copy-source-If-Match' } }),
    )
    expect(() => checkWrite({ ifNoneMatch: '*' }, existing, 'a')).toThrow(named('If-None-Match'))
  })
})

describe('conditions of a delete', () => {
  const there = { ...existing, size: 4 }
  const ifMatchLastModifiedMs = Math.floor(existing.modifiedMs / 1000) * 1000
  it.each([
    { given: {}, onNothing: 'ok', onThere: 'ok' },
    { given: { ifMatch: '*' }, onNothing: 'NoSuchKey', onThere: 'ok' },
    { given: { ifMatchSize: 4 }, onNothing: 'ok', onThere: 'ok' },
    { given: { ifMatchSize: 0 }, onNothing: 'ok', onThere: 'PreconditionFailed' },
    { given: { ifMatchLastModifiedMs }, onNothing: 'ok', onThere: 'ok' },
    { given: { ifMatchLastModifiedMs: ifMatchLastModifiedMs - 1000 }, onNothing: 'ok', onThere: 'PreconditionFailed' },
    { given: { ifMatchLastModifiedMs: ifMatchLastModifiedMs + 1000 }, onNothing: 'ok', onThere: 'PreconditionFailed' },
    { given: { ifMatch: etag, ifMatchSize: 4, ifMatchLastModifiedMs }, onNothing: 'NoSuchKey', onThere: 'ok' },
    {
      given: { ifMatch: 'x', ifMatchSize: 4, ifMatchLastModifiedMs },
      onNothing: 'NoSuchKey',
      onThere: 'PreconditionFailed',
    },
    {
      given: { ifMatch: etag, ifMatchSize: 3, ifMatchLastModifiedMs },
      onNothing: 'NoSuchKey',
      onThere: 'PreconditionFailed',
    },
  ] satisfies { given: DeleteConditions; onNothing: string; onThere: string }[])(
    '$given: $onNothing on nothing, $onThere on an object',
    ({ given, ...row }) => {
      expect(outcomeOf(() => checkDelete(given, undefined, 'key'))).toBe(row.onNothing)
      expect(outcomeOf(() => checkDelete(given, there, 'key'))).toBe(row.onThere)
    },
  )
})

describe('conditions of a write', () => {
  const there = existing
  const nothing = undefined
  it.each([
    { ifMatch: undefined, ifNoneMatch: undefined, onNothing: 'ok', onThere: 'ok' },
    { ifMatch: undefined, ifNoneMatch: '*', onNothing: 'ok', onThere: 'PreconditionFailed' },
    { ifMatch: undefined, ifNoneMatch: ' * ', onNothing: 'ok', onThere: 'PreconditionFailed' },
    { ifMatch: undefined, ifNoneMatch: `"${etag}"`, onNothing: 'NotImplemented', onThere: 'NotImplemented' },
    { ifMatch: undefined, ifNoneMatch: '"other"', onNothing: 'NotImplemented', onThere: 'NotImplemented' },
    { ifMatch: undefined, ifNoneMatch: '', onNothing: 'NotImplemented', onThere: 'NotImplemented' },
    { ifMatch: `"${etag}"`, ifNoneMatch: undefined, onNothing: 'NoSuchKey', onThere: 'ok' },
    { ifMatch: etag, ifNoneMatch: undefined, onNothing: 'NoSuchKey', onThere: 'ok' },
    { ifMatch: '*', ifNoneMatch: undefined, onNothing: 'NoSuchKey', onThere: 'ok' },
    { ifMatch: '"other"', ifNoneMatch: undefined, onNothing: 'NoSuchKey', onThere: 'PreconditionFailed' },
    { ifMatch: '', ifNoneMatch: undefined, onNothing: 'NoSuchKey', onThere: 'PreconditionFailed' },
    { ifMatch: `"${etag}"`, ifNoneMatch: '*', onNothing: 'NoSuchKey', onThere: 'PreconditionFailed' },
    { ifMatch: '"other"', ifNoneMatch: '*', onNothing: 'NoSuchKey', onThere: 'PreconditionFailed' },
  ])('If-Match $ifMatch, If-None-Match $ifNoneMatch: $onNothing on nothing, $onThere on an object', (row) => {
    const { ifMatch, ifNoneMatch } = row
    expect(outcomeOf(() => checkWrite({ ifMatch, ifNoneMatch }, nothing, 'a'))).toBe(row.onNothing)
    expect(outcomeOf(() => checkWrite({ ifMatch, ifNoneMatch }, there, 'a'))).toBe(row.onThere)
  })
})
