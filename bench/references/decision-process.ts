/**
 * What it costs to decide whether a request may do what it asks, and to verify its signature: `decision-process SECONDS` does each in turns and prints
 * microseconds of each as JSON.
 */
import { openCredentials } from '../../src/auth/credentials.ts'
import { type SignedRequest, verify } from '../../src/auth/verify.ts'
import { RequestScope } from '../../src/operations/access/request-scope.ts'
import { createSigner } from '../load/sign.ts'
import type { DecisionCosts } from '../results.ts'

const account = { accessKeyId: 'bench-access-key', secretAccessKey: 'bench-secret-access-key' }
const path = '/holdfast-bench/object-0001234'
const credentials = openCredentials([{ id: 'main', name: 'Main', keys: [account] }])

/** The request as the server reads it when a client of the AWS SDKs has sent it. */
function signedGet(): SignedRequest {
  const signer = createSigner({
    host: '127.0.0.1',
    port: 9000,
    region: 'us-east-1',
    bucket: 'holdfast-bench',
    stores: false,
    encrypts: false,
    ...account,
  })
  const head = signer({ method: 'GET', path, payloadHash: 'UNSIGNED-PAYLOAD', headers: 'User-Agent: bench/1\r\n' })
  const [, ...lines] = head.toString('latin1').trim().split('\r\n')
  const rawHeaders = lines.flatMap((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 2)]
  })
  const names = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [name.toLowerCase()] : []))
  return { method: 'GET', rawPath: path, rawQuery: '', rawHeaders, names, prefix: 'x-amz-' }
}

/** All are about the action, and none of them decides before the last one: half of them deny, over conditions, and half allow another prefix. */
const policyOf20 = JSON.stringify({
  Version: '2012-10-17',
  Statement: Array.from({ length: 20 }, (_, i) =>
    i % 2 === 0
      ? {
          Sid: `Deny${i}`,
          Effect: 'Deny',
          Principal: '*',
          Action: 's3:*',
          Resource: ['arn:aws:s3:::holdfast-bench', 'arn:aws:s3:::holdfast-bench/*'],
          Condition: {
            NotIpAddress: { 'aws:SourceIp': ['127.0.0.0/8', `10.${i}.0.0/16`] },
            StringLike: { 'aws:UserAgent': `agent-${i}/*` },
          },
        }
      : {
          Sid: `Allow${i}`,
          Effect: 'Allow',
          Principal: { AWS: [`arn:aws:iam::team-${i}:root`, 'arn:aws:iam::main:root'] },
          Action: ['s3:GetObject', 's3:PutObject'],
          Resource: `arn:aws:s3:::holdfast-bench/team-${i}/*`,
        },
  ),
})

const bucket = {
  name: 'holdfast-bench',
  id: '0'.repeat(32),
  owner: 'main',
  createdMs: 0,
  locationConstraint: undefined,
  location: 'default',
  tags: [],
  versioning: 'unversioned',
  objectLock: undefined,
} as const
const guarded = { ...bucket, policy: policyOf20 }

const values: Readonly<Record<string, string>> = { 'aws:SourceIp': '::ffff:127.0.0.1', 'aws:UserAgent': 'bench/1' }
const request = {
  principal: verify(signedGet(), credentials, Date.now()).principal,
  conditionValue: (key: string): string | undefined => values[key]?.replace(/^::ffff:(?=\d+\.)/i, ''),
  expectedBucketOwner: undefined,
  requestId: '1',
}
const resource = { bucket: bucket.name, key: 'object-0001234' }
const permissions = ['s3:GetObject']

const signed = signedGet()
const work: Readonly<Record<keyof DecisionCosts, () => void>> = {
  verifyUs: () => void verify(signed, credentials, Date.now()),
  ownKeyUs: () => new RequestScope(request, resource, permissions).admit(bucket),
  policyOf20Us: () => new RequestScope(request, resource, permissions).admit(guarded),
}

const names = ['verifyUs', 'ownKeyUs', 'policyOf20Us'] as const
const timesAtOnce = 2_000

function spentMs(once: () => void): number {
  const beganMs = performance.now()
  for (let i = 0; i < timesAtOnce; i++) once()
  return performance.now() - beganMs
}

// Compiled code and caches are warm before anything counts.
for (const name of names) for (let i = 0; i < 5; i++) spentMs(work[name])
const spent: Record<keyof DecisionCosts, number[]> = { verifyUs: [], ownKeyUs: [], policyOf20Us: [] }
const endMs = performance.now() + Number(process.argv[2] ?? 1) * 1000
while (performance.now() < endMs) for (const name of names) spent[name].push(spentMs(work[name]))

/** The middle one: what else the machine did meanwhile does not count. */
const costUs = (times: number[]): number =>
  ((times.sort((a, b) => a - b)[times.length >> 1] ?? Number.NaN) * 1000) / timesAtOnce
const costs: DecisionCosts = {
  verifyUs: costUs(spent.verifyUs),
  ownKeyUs: costUs(spent.ownKeyUs),
  policyOf20Us: costUs(spent.policyOf20Us),
}
process.stdout.write(`${JSON.stringify(costs)}\n`)
