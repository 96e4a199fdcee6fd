import { expect, test } from 'vitest'
import { systemClock } from '../src/clock.ts'
import { currentSpan, inStep, passedTrace, serveWithin } from '../src/spans.ts'

const trace = { traceId: '0af7651916cd43dd8448eb211c80319c', parentId: 'b7ad6b7169203331', sampled: false }

test('each request to another server names the same trace and a sender of its own', () => {
  const span = passedTrace(systemClock, trace, 'vendor=opaque')
  const [one, other] = [span.headers, span.begin('PUT', 'request').headers]
  for (const { traceparent, tracestate } of [one, other]) {
    expect(traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-00$/)
    expect(tracestate).toBe('vendor=opaque')
  }
  expect(one.traceparent).not.toBe(other.traceparent)
})

test('a span is under way in all that its request does, and not in what outlives the request', async () => {
  const span = passedTrace(systemClock, trace, undefined)
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  let outliving: Promise<unknown> = Promise.resolve()
  await serveWithin(span, async () => {
    await inStep('step', async (step) => expect(step).toBe(currentSpan()))
    expect(currentSpan()).toBe(span)
    outliving = gate.then(() => [currentSpan(), inStep('late', async (step) => step)])
  })
  open()
  expect(await outliving).toEqual([undefined, expect.any(Promise)])
  expect(currentSpan()).toBeUndefined()
})

test('a request without a span gets none from the one before it on the connection', async () => {
  let seen: unknown = 'nothing'
  await serveWithin(passedTrace(systemClock, trace, undefined), () =>
    serveWithin(undefined, async () => {
      seen = currentSpan()
    }),
  )
  expect(seen).toBeUndefined()
})
