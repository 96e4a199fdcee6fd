/** Proofs of what vouches for a body: Content-MD5, the checksums, and the name of the one that an SDK means to send. */
import { expect } from 'vitest'
import { operationRows } from '../table-rows.ts'
import { nothingChanged } from '../wire-asks.ts'
import { type Algorithm, algorithms, md5Base64, referenceChecksum, referenceComposite } from '../wire-checksums.ts'
import type { Ask, Wire } from '../wire-client.ts'
import { withDocument } from '../wire-elements.ts'
import { beginUpload, completeDocument, putPart } from '../wire-uploads.ts'
import { ofEach, type Proof, refuses, validAsk } from './proof.ts'
import { ownersPolicy } from './unconfigured.ts'

/** Its checksums are of the object, not of the document that it sends. */
const ofObjects = ['CompleteMultipartUpload']

/** A valid request that has a body. */
async function vouchable(wire: Wire, operation: string) {
  const { ask, ...rest } = await validAsk(wire, operation)
  // A canned list takes the place of a policy.
  const { acl: _, ...vendor } = ask.vendor ?? {}
  const root = operationRows.find(({ name }) => name === operation)?.requestBody ?? ''
  const body = String(ask.body ?? (root === 'AccessControlPolicy' ? ownersPolicy : `<${root}/>`))
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

const checksums = algorithms.flatMap((algorithm) =>
  ofEach(
    `request vendor:${headerOf(algorithm)}`,
    (wire, operation) =>
      isVerified(wire, operation, (ask, body) => ({
        ...ask,
        vendor: { ...ask.vendor, [headerOf(algorithm)]: referenceChecksum(algorithm, body) },
      })),
    { except: ofObjects },
  ),
)

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

/** An upload with a checksum of the algorithm's first type, one part, and what the whole object's is. */
async function uploadWith(wire: Wire, algorithm: Algorithm) {
  await wire.must({ method: 'PUT' })
  const uploadId = await beginUpload(wire, { 'checksum-algorithm': algorithm })
  const etag = await putPart(wire, uploadId, 1, 'part', { [headerOf(algorithm)]: referenceChecksum(algorithm, 'part') })
  const wholeOf = (part: string): string =>
    algorithm === 'CRC64NVME' ? referenceChecksum(algorithm, part) : referenceComposite(algorithm, [Buffer.from(part)])
  const elementOf = (part: string): string =>
    `<Checksum${algorithm}>${referenceChecksum(algorithm, part)}</Checksum${algorithm}>`
  const complete = (vendor: Record<string, string>, more = elementOf('part')): Ask => ({
    method: 'POST',
    key: 'big',
    query: { uploadId },
    body: completeDocument([[1, etag, more]]),
    vendor,
  })
  return { wholeOf, complete, listing: elementOf }
}

/** Operation by operation there is but one: what it completes. */
const ofWholes: Proof[] = algorithms.flatMap((algorithm): Proof[] => [
  {
    it: `CompleteMultipartUpload verifies ${headerOf(algorithm)}`,
    rows: [`CompleteMultipartUpload request vendor:${headerOf(algorithm)}`],
    run: async (wire) => {
      const { wholeOf, complete } = await uploadWith(wire, algorithm)
      await refuses(wire, complete({ [headerOf(algorithm)]: wholeOf('other') }), 400, 'BadDigest')
      await wire.must(complete({ [headerOf(algorithm)]: wholeOf('part') }))
    },
  },
  {
    it: `CompleteMultipartUpload verifies the ${algorithm} of a part`,
    rows: [`CompleteMultipartUpload request element:CompleteMultipartUpload/Part/Checksum${algorithm}`],
    run: async (wire) => {
      const { complete, listing } = await uploadWith(wire, algorithm)
      await refuses(wire, complete({}, listing('other')), 400, 'InvalidPart')
      await wire.must(complete({}, listing('part')))
    },
  },
])

export const digestProofs: readonly Proof[] = [...md5, ...checksums, ...announced, ...ofWholes]
