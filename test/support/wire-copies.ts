/** A source to be copied, and copies of it as tests ask for them. */
import { expect } from 'vitest'
import { md5Hex } from './wire-checksums.ts'
import type { Ask, Reply, Wire } from './wire-client.ts'
import { anInstant, type Facts } from './wire-rows.ts'

export const copyText = 'to be copied'
export const copyEtag = `"${md5Hex(copyText)}"`

/** The source, in a bucket of its own; its Last-Modified is a fact. */
export async function copySource(wire: Wire): Promise<Facts> {
  await wire.must({ method: 'PUT', bucket: 'source' })
  await wire.must({
    method: 'PUT',
    bucket: 'source',
    key: 'from',
    body: copyText,
    headers: { 'Content-Type': 'text/plain', 'Cache-Control': 'no-cache' },
    vendor: { 'meta-colour': 'red', tagging: 'a=1&b=2' },
  })
  const { headers } = await wire.must({ method: 'HEAD', bucket: 'source', key: 'from' })
  return { lastModified: headers.get('last-modified') ?? '' }
}

export const copy = (vendor: Record<string, string> = {}, more: Partial<Ask> = {}): Ask => ({
  method: 'PUT',
  key: 'to',
  vendor: { 'copy-source': '/source/from', ...vendor },
  ...more,
})
export const input = { Bucket: 'wire', Key: 'to', CopySource: '/source/from' }
export const copied = {
  status: 200,
  given: copySource,
  xml: { CopyObjectResult: { LastModified: anInstant, ETag: copyEtag } },
}

export const answers =
  (check: (reply: Reply, prefix: string) => void, key = 'to') =>
  async (wire: Wire): Promise<void> =>
    check(await wire.must({ method: 'GET', key }), wire.style.prefix)
export const isCopy = answers(({ body }) => expect(body.toString()).toBe(copyText))
export const isNotThere = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD', key: 'to' })).status).toBe(404)
}
export const described = ({ headers }: Reply, prefix: string) =>
  ['content-type', 'cache-control', `${prefix}meta-colour`, `${prefix}meta-size`, `${prefix}tagging-count`].map(
    (name) => headers.get(name),
  )

export const copyTarget = async (wire: Wire): Promise<void> => {
  await wire.must({
    method: 'PUT',
    key: 'to',
    body: copyText,
    headers: { 'Content-Type': 'text/plain' },
    vendor: { 'meta-colour': 'red' },
  })
}
