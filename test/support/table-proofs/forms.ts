/** Proofs of what only a form post has: how its sender wants to be answered. */
import { expect } from 'vitest'
import { algorithms, md5Hex, referenceChecksum } from '../wire-checksums.ts'
import type { Ask, Wire } from '../wire-client.ts'
import { answering, effect, type Proof, vendorOf } from './proof.ts'

const text = 'sent by a form'
const asking = (fields: Record<string, string> = {}): Ask => ({
  method: 'POST',
  form: { key: 'a b/c', ...fields },
  body: text,
})

/** The object's URL, by whatever name the bucket is addressed. */
const urlOf = ({ style, port }: Wire): string =>
  style.hosting === 'path' ? `http://127.0.0.1:${port}/wire/a%20b/c` : `http://wire.localhost:${port}/a%20b/c`

const etag = `"${md5Hex(text)}"`

const statuses = effect('PostObject', ['request form:success_action_status'], async (wire) => {
  for (const [asked, status] of [
    ['200', 200],
    ['201', 201],
    ['204', 204],
    ['302', 204],
  ] as const) {
    const reply = await wire.ask(asking({ success_action_status: asked }))
    expect([reply.status, reply.body.length > 0]).toEqual([status, asked === '201'])
  }
})

const location = effect('PostObject', ['answer header:Location'], async (wire) => {
  expect((await wire.must(asking())).headers.get('location')).toBe(urlOf(wire))
})

const document = answering({
  operation: 'PostObject',
  it: 'with a document',
  status: 201,
  ask: asking({ success_action_status: '201' }),
  elements: {
    'PostResponse/Location': expect.stringContaining('/a%20b/c'),
    'PostResponse/Bucket': 'wire',
    'PostResponse/Key': 'a b/c',
    'PostResponse/ETag': etag,
  },
})

const redirects = ['success_action_redirect', 'redirect'].map((name) =>
  effect('PostObject', [`request form:${name}`], async (wire) => {
    const answer = async (url: string): Promise<unknown> => {
      const { status, headers, body } = await wire.ask(asking({ [name]: url }))
      return [status, headers.get('location'), body.length]
    }
    const told = 'bucket=wire&key=a+b%2Fc&etag=%22'
    const digest = `${md5Hex(text)}%22`
    expect(await answer('https://example.com/done')).toEqual([303, `https://example.com/done?${told}${digest}`, 0])
    expect(await answer('http://example.com/?a=1')).toEqual([303, `http://example.com/?a=1&${told}${digest}`, 0])
    for (const none of ['', 'done.html', 'javascript:alert(1)'])
      expect(await answer(none)).toEqual([204, urlOf(wire), 0])
  }),
)

const checksums = algorithms.map((algorithm) => {
  const name = `checksum-${algorithm.toLowerCase()}`
  return effect('PostObject', [`answer vendor:${name}`, 'answer vendor:checksum-type'], async (wire) => {
    const value = referenceChecksum(algorithm, text)
    const reply = await wire.must({ ...asking(), vendor: { [name]: value } })
    expect([vendorOf(wire, reply, name), vendorOf(wire, reply, 'checksum-type')]).toEqual([value, 'FULL_OBJECT'])
  })
})

export const formProofs: readonly Proof[] = [statuses, location, document, ...redirects, ...checksums]
