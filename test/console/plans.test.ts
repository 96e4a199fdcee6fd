/** What the console decides without a browser: parts of a file, rows in view, the order of a listing, the policy of a narrowed key. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { document } from '../../console/src/api/xml-text.ts'
import { ArchiveNames, archiveName } from '../../console/src/model/archive-name.ts'
import { scopedPolicy } from '../../console/src/model/key-scope.ts'
import { missingParts, planParts } from '../../console/src/model/part-plan.ts'
import { compareUtf8 } from '../../console/src/model/utf8-order.ts'
import { shownRows } from '../../console/src/ui/shown-rows.ts'

const mebibyte = 1024 * 1024

describe('planParts', () => {
  it('covers every byte once, within the limits of S3', () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat().map((bytes) => (bytes % (5 * 1024 ** 4)) + 1),
        (bytes) => {
          const parts = planParts(bytes)
          const isRight = ({ number, start, end }: (typeof parts)[number], i: number) =>
            number === i + 1 &&
            start === (parts[i - 1]?.end ?? 0) &&
            (i === parts.length - 1 || end - start >= 5 * mebibyte)
          expect(parts.every(isRight)).toBe(true)
          expect([parts.length <= 10_000, parts.at(-1)?.end]).toEqual([true, bytes])
        },
      ),
    )
  })

  it('sends again what the server lacks or has with another size', () => {
    const kept = [
      { number: 1, bytes: 8 * mebibyte },
      { number: 2, bytes: 7 },
    ]
    expect(missingParts(planParts(20 * mebibyte), kept).map(({ number }) => number)).toEqual([2, 3])
  })
})

describe('shownRows', () => {
  const list = { height: 600, rowHeight: 36, spareRows: 0 }

  it('shows the rows at the position of the scroll bar', () => {
    expect(shownRows({ ...list, count: 1000, top: 0 })).toEqual({
      first: 0,
      last: 17,
      offset: 0,
      contentHeight: 36_000,
    })
    expect(shownRows({ ...list, count: 1000, top: 360 })).toMatchObject({ first: 10, offset: 360 })
  })

  it('reaches the last row of a list that is higher than browsers allow', () => {
    const count = 1_000_000
    const { contentHeight } = shownRows({ ...list, count, top: 0 })
    expect(contentHeight).toBeLessThan(17_000_000)
    const end = shownRows({ ...list, count, top: contentHeight - list.height })
    expect(end.last).toBe(count)
    expect(end.offset + (end.last - end.first) * list.rowHeight).toBeCloseTo(contentHeight, 3)
  })

  it('shows no more rows than there are', () => {
    expect(shownRows({ ...list, count: 3, top: 0 })).toMatchObject({ first: 0, last: 3 })
    expect(shownRows({ ...list, count: 0, top: 0 })).toMatchObject({ first: 0, last: 0 })
  })
})

describe('compareUtf8', () => {
  it('orders as the bytes of UTF-8 do', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
      }),
    )
    expect(compareUtf8('\u{1f600}', '\uffff')).toBeGreaterThan(0)
  })
})

describe('archiveName', () => {
  it('never leads out of the folder, whatever the key', () => {
    const part = fc.oneof(fc.constantFrom('', '.', '..', 'C:', '\\', '\u0000', 'a'), fc.string({ unit: 'binary' }))
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), (parts) => {
        const name = archiveName(parts.join('/'))
        expect(name.split('/').filter((each) => ['', '.', '..'].includes(each))).toEqual([])
        expect(name).not.toMatch(/\\|\p{Cc}|^[A-Za-z]:/u)
      }),
    )
  })

  it.each([
    ['photos/a.jpg', 'photos/a.jpg'],
    ['.hidden/...', '.hidden/...'],
    ['../x', '__/x'],
    ['/etc/passwd', '_/etc/passwd'],
    ['a//b/./c/', 'a/_/b/_/c/_'],
    ['..\\..\\x', '.._.._x'],
    ['C:/x', 'C_/x'],
  ])('%s becomes %s', (key, name) => {
    expect(archiveName(key)).toBe(name)
  })

  it('gives each key a name of its own', () => {
    const names = new ArchiveNames()
    const given = ['../note.txt', '__/note.txt', '__/note.txt', '.x', '.x'].map((key) => names.nameOf(key))
    expect(given).toEqual(['__/note.txt', '__/note (2).txt', '__/note (3).txt', '.x', ' (2).x'])
  })
})

describe('scopedPolicy', () => {
  it('narrows nothing when nothing was chosen', () => {
    expect(scopedPolicy({ bucket: '', prefix: '', readOnly: false })).toBeUndefined()
  })

  it.each([
    [{ bucket: '', prefix: '', readOnly: true }, ['*']],
    [{ bucket: 'b', prefix: '', readOnly: false }, ['arn:aws:s3:::b/*', 'arn:aws:s3:::b']],
    [{ bucket: 'b', prefix: 'p/', readOnly: true }, ['arn:aws:s3:::b/p/*', 'arn:aws:s3:::b']],
  ])('%j concerns %j', (scope, resources) => {
    const policy: { Statement: { Resource: string }[] } = JSON.parse(scopedPolicy(scope) ?? '')
    expect(policy.Statement.map(({ Resource }) => Resource)).toEqual(resources)
  })

  it('lets a key of a prefix list only that prefix', () => {
    expect(scopedPolicy({ bucket: 'b', prefix: 'p/', readOnly: false })).toContain('{"StringLike":{"s3:prefix":"p/*"}}')
  })
})

describe('document', () => {
  it('escapes what is not markup, and leaves out what is undefined', () => {
    expect(document('Tagging', { TagSet: { Tag: [{ Key: '<&>', Value: '"\r' }] }, Absent: undefined })).toBe(
      '<Tagging xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><TagSet><Tag><Key>&lt;&amp;&gt;</Key><Value>&quot;&#13;</Value></Tag></TagSet></Tagging>',
    )
  })
})
