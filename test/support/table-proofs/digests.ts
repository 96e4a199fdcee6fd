/** Proofs of what vouches for a body: Content-MD5, the checksums, and the name of the one that an SDK means to send. */
import { expect } from 'vitest'
import { operationRows } from '../table-rows.ts'
import { wholePolicy } from '../wire-acl.ts'
import { nothingChanged } from '../wire-asks.ts'
import { type Algorithm, algorithms, md5Base64, referenceChecksum } from '../wire-checksums.ts'
import type { Ask, Wire } from '../wire-client.ts'
import { withDocument } from '../wire-elements.ts'
import { ofEach, type Proof, refuses, validAsk } from './proof.ts'

/** Its checksums are of the object, not of the document that it sends. */
const ofObjects = ['CompleteMultipartUpload']

/** A valid request that has a body. */
async function vouchable(wire: Wire, operation: string) {
  const { ask, ...rest } = await validAsk(wire, operation)
  // A canned list takes the place of a policy.
  const { acl: _, ...vendor } = ask.vendor ?? {}
  const root = operationRows.find(({ name }) => name === operation)?.requestBody ?? ''
  const body = String(ask.body ?? (root === 'AccessControlPolicy' ? wholePolicy : `<${root}/>`))
  return { ...rest, body, ask: withDocument({ ...ask, vendor }, body) }
}

/** The right value is taken and a wrong one refused. */
async function isVerified(wire: Wire, operation: string, send: (ask: Ask, vouchedFor: string) => Ask): Promise<void> {
  const { ask, body, succeeds, open } = await vouchable(wire, operation)
  await refuses(wire, send(ask, `${body} `), 400, 'BadDigest')
  await nothingChanged(wire, open)
  const reply = await wire.ask(send(ask, body))
  expect(reply.status, reply.body.toString()).toBe(succeeds)
}

const md5 = ofEach('request header:Content-MD5', (wire, operation) =>
  isVerified(wire, operation, (ask, body) => ({
    ...ask,
    headers: { ...ask.headers, 'Content-MD5': md5Base64(body) },
  })),
)

const headerOf = (algorithm: Algorithm): string => `checksum-${algorithm.toLowerCase()}`

/** One proof an operation for all algorithms, because making what a request needs takes long. */
const checksums: Proof[] = ofEach(
  `request vendor:${headerOf('CRC32')}`,
  async (wire, operation) => {
    const { ask, body, succeeds, open } = await vouchable(wire, operation)
    const vouched = (algorithm: Algorithm, vouchedFor: string): Ask => ({
      ...ask,
      vendor: { ...ask.vendor, [headerOf(algorithm)]: referenceChecksum(algorithm, vouchedFor) },
    })
    for (const algorithm of algorithms) await refuses(wire, vouched(algorithm, `${body} `), 400, 'BadDigest')
    await nothingChanged(wire, open)
    for (const algorithm of algorithms) expect((await wire.ask(vouched(algorithm, body))).status).toBe(succeeds)
  },
  { except: ofObjects },
).map((proof) => ({
  ...proof,
  it: proof.it.replace('checksum-crc32', 'checksum-*'),
  rows: proof.rows.flatMap((row) => algorithms.map((algorithm) => row.replace('checksum-crc32', headerOf(algorithm)))),
}))

const announced = ofEach(
  'request vendor:sdk-checksum-algorithm',
  async (wire, operation) => {
    const { ask, body, succeeds, open } = await vouchable(wire, operation)
    const announcing = (algorithm: Algorithm): Ask => ({
      ...ask,
      vendor: {
        ...ask.vendor,
        'checksum-crc32': referenceChecksum('CRC32', body),
        'sdk-checksum-algorithm': algorithm,
      },
    })
    await refuses(wire, announcing('SHA1'), 400, 'InvalidRequest')
    await nothingChanged(wire, open)
    expect((await wire.ask(announcing('CRC32'))).status).toBe(succeeds)
  },
  { except: ofObjects },
)

export const digestProofs: readonly Proof[] = [...md5, ...checksums, ...announced]
