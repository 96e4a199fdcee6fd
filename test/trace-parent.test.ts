import { expect, test } from 'vitest'
import { parseTraceParent, passableState } from '../src/trace-parent.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'

test.each([
  ['sampled', `00-${traceId}-${parentId}-01`, true],
  ['not sampled', `00-${traceId}-${parentId}-00`, false],
  ['with a flag of a later time', `00-${traceId}-${parentId}-03`, true],
  ['of a later version, which says more', `01-${traceId}-${parentId}-01-more`, true],
])('a traceparent that is %s is understood', (_, text, sampled) => {
  expect(parseTraceParent(text)).toEqual({ traceId, parentId, sampled })
})

test.each([
  ['is empty', ''],
  ['says more than its version may', `00-${traceId}-${parentId}-01-more`],
  ['has the version that is none', `ff-${traceId}-${parentId}-01`],
  ['has no trace', `00-${'0'.repeat(32)}-${parentId}-01`],
  ['has no parent', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['has capitals', `00-${traceId.toUpperCase()}-${parentId}-01`],
  ['came twice', `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`],
])('a traceparent that %s counts as absent', (_, text) => {
  expect(parseTraceParent(text)).toBeUndefined()
})

test('a tracestate is passed on as it came, if a header can carry it', () => {
  expect(passableState('a=1,b=2')).toBe('a=1,b=2')
  for (const text of [undefined, '', 'a=\u00e9', 'a=1\r\nx: y', 'x'.repeat(513)])
    expect(passableState(text)).toBeUndefined()
})
