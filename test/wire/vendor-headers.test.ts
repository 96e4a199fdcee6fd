/** Vendor headers that an operation does not declare: what guarantees something is refused by name, also when it is misspelled, and all others pass. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { meaninglessElsewhere } from '../../src/contract/vendor-headers.ts'
import { operations } from '../../src/operations/table.ts'
import { asks, type KeptAsks, keepAsks } from '../support/wire-asks.ts'
import type { Reply } from '../support/wire-client.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'
import { errorIn } from '../support/wire-rows.ts'
import { mainKey } from '../support/wire-server.ts'
import { readXml } from '../support/wire-xml.ts'

/** One typing error in each family that guarantees something, and what S3 defines outside of the families. */
const guarantees = [
  'acls',
  'bucket-object-lock-enable',
  'bypass-governance',
  'bpyass-governance-retention',
  'checksum-sha3',
  'cheksum-type',
  'content-md5',
  'copy-source-if-matches',
  'copy-source-server-side-encryption-customer-keys',
  'expected-bucket-owners',
  'grant-write-all',
  'if-match-etag',
  'object-lock-retain-until',
  'object-lock-retention',
  'objectlock-mode',
  'object_lock-mode',
  'object-lcok-legal-hold',
  'legal-hold',
  'retain-until-date',
  'rename-source-if-matches',
  'sdk-checksum-algorithms',
  'server-side-encryption-kms-key',
  'server-side-encryptions',
  'serverside-encryption',
  'sever-side-encrypton',
  'sse-kms-key-id',
  'source-expected-bucket-owners',
  'tagging-directives',
  'write-offset-bytes',
] as const

const harmless: Record<string, string> = {
  // Every request of the AWS SDK for C++ carries these two.
  'api-version': '2006-03-01',
  'checksum-mode': 'enabled',
  'made-up': 'x',
  // Words in it look like others.
  'block-size': '1',
  'clock-skew': '1',
  'object-mode': 'x',
  'request-payer': 'requester',
}

const server = wireServer()

const names = Object.keys(asks({ uploadId: '', etag: '' }))

/** Vendor names that an operation reads. */
const declaredBy = (operation: string): ReadonlySet<string> =>
  new Set(
    Object.values(operations.find(({ name }) => name === operation)?.input ?? {}).flatMap(({ in: place, name }) =>
      place === 'vendor' ? [name.toLowerCase()] : [],
    ),
  )

describe.each(['x-amz-', 'x-store-'] as const)('%s', (prefix) => {
  const wire = wireTo(server, { prefix, hosting: 'path' })
  let kept: KeptAsks
  beforeAll(async () => {
    kept = await keepAsks(server, wire)
  })
  beforeEach(() => kept.state.restore())
  const logLine = (reply: Reply) => server.logged(reply.headers.get(`${prefix}request-id`) ?? '')

  it.each(names)('%s refuses by name what guarantees something and is not its own', async (name) => {
    const { succeeds: _, ...ask } = asks(kept.open)[name] ?? { succeeds: 0, method: 'GET' }
    for (const presigned of [false, true])
      for (const guarantee of guarantees) {
        const reply = await wire.ask({ ...ask, presigned, vendor: { ...ask.vendor, [guarantee]: 'x' } })
        const { code, refused } = await logLine(reply)
        const expected = { status: 501, code: 'NotImplemented', refused: prefix + guarantee }
        expect({ status: reply.status, code, refused }).toEqual(expected)
        if (reply.body.length > 0)
          expect(errorIn(readXml(reply.body))).toMatchObject({ NotImplemented: expected.refused })
      }
    expect(await kept.state.changes()).toEqual([])
  })

  it.each(names)('%s passes what asks for nothing, and says in its log line what that was', async (name) => {
    const declared = declaredBy(name)
    const meaningless = [...meaninglessElsewhere.keys()].filter((other) => !declared.has(other) && !(other in harmless))
    const extra = { ...harmless, ...Object.fromEntries(meaningless.map((other) => [other, 'REPLACE'])) }
    for (const presigned of [false, true]) {
      await kept.state.restore()
      const { succeeds, code = '', ...ask } = asks(kept.open)[name] ?? { succeeds: 0, method: 'GET' }
      const reply = await wire.ask({ ...ask, presigned, vendor: { ...ask.vendor, ...extra } })
      const line = await logLine(reply)
      expect({ status: reply.status, code: line.code }, reply.body.toString()).toEqual({ status: succeeds, code })
      const ignored = Object.keys(extra).filter((other) => !declared.has(other))
      expect(line.ignoredHeaders?.toSorted()).toEqual(ignored.map((other) => prefix + other).sort())
    }
  })

  it('tells in the log line of a bad signature which key was claimed, and never a secret', async () => {
    const lineOf = async (accessKeyId: string) => {
      const signedBy = { accessKeyId, secretAccessKey: 'canary-secret' }
      const line = await logLine(await wire.ask({ method: 'GET', key: 'a', signedBy }))
      return [line.code, line.accessKeyId, line.claimedAccessKeyId]
    }
    expect(await lineOf('AKMAIN')).toEqual(['SignatureDoesNotMatch', '', 'AKMAIN'])
    expect(await lineOf('AKNOBODY')).toEqual(['InvalidAccessKeyId', '', 'AKNOBODY'])
    // Whoever mixes up the two has sent us a secret.
    expect(await lineOf(mainKey.secretAccessKey)).toEqual(['InvalidAccessKeyId', '', '(a secret access key)'])
  })

  it('keeps no metadata without a name', async () => {
    const reply = await wire.ask({ method: 'PUT', key: 'a', body: 'x', vendor: { 'meta-': 'x' } })
    expect([reply.status, (await logLine(reply)).refused]).toEqual([501, `${prefix}meta-`])
  })
})
