/** Proofs of access: what a policy opens is open, and what a block closes is closed. */
import { expect } from 'vitest'
import { putOwnership } from '../wire-acl.ts'
import { md5Base64 } from '../wire-checksums.ts'
import type { Ask, Wire } from '../wire-client.ts'
import { answering, effect, type Proof, refuses } from './proof.ts'

const policy = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::wire/open' }],
})
const putPolicy: Ask = { method: 'PUT', query: { policy: '' }, body: policy }
const putOpen = async (wire: Wire): Promise<void> =>
  void (await wire.must({ method: 'PUT', key: 'open', body: 'open' }))
const statusUnsigned = async (wire: Wire): Promise<number> =>
  (await wire.ask({ method: 'GET', key: 'open', unsigned: true })).status

const block = 'PublicAccessBlockConfiguration'
const names = ['BlockPublicAcls', 'IgnorePublicAcls', 'BlockPublicPolicy', 'RestrictPublicBuckets'] as const
const putBlock = (...blocked: string[]): Ask => {
  const body = `<${block}>${blocked.map((name) => `<${name}>true</${name}>`).join('')}</${block}>`
  return { method: 'PUT', query: { publicAccessBlock: '' }, headers: { 'Content-MD5': md5Base64(body) }, body }
}

const openByList: Ask = { method: 'PUT', key: 'open', query: { acl: '' }, vendor: { acl: 'public-read' } }

export const accessProofs: readonly Proof[] = [
  effect('PutBucketPolicy', ['request data:body'], async (wire) => {
    await putOpen(wire)
    expect(await statusUnsigned(wire)).toBe(403)
    await wire.must(putPolicy)
    expect(await statusUnsigned(wire)).toBe(200)
  }),
  effect('PutBucketPolicy', ['request vendor:confirm-remove-self-bucket-access'], async (wire) => {
    const confirming = (value: string): Ask => ({
      ...putPolicy,
      vendor: { 'confirm-remove-self-bucket-access': value },
    })
    await refuses(wire, confirming('perhaps'), 400, 'InvalidArgument')
    await wire.must(confirming('true'))
  }),
  effect('GetBucketPolicy', ['answer data:body'], async (wire) => {
    await wire.must(putPolicy)
    expect((await wire.must({ method: 'GET', query: { policy: '' } })).body.toString()).toBe(policy)
  }),
  answering({
    operation: 'GetBucketPolicyStatus',
    it: 'that the policy is public',
    given: async (wire) => void (await wire.must(putPolicy)),
    ask: { method: 'GET', query: { policyStatus: '' } },
    elements: { 'PolicyStatus/IsPublic': 'true' },
  }),
  effect('PutPublicAccessBlock', [`request element:${block}/BlockPublicAcls`], async (wire) => {
    await wire.must(putOwnership('ObjectWriter'))
    await putOpen(wire)
    await wire.must(putBlock('BlockPublicAcls'))
    await refuses(wire, openByList, 403, 'AccessDenied')
  }),
  effect('PutPublicAccessBlock', [`request element:${block}/IgnorePublicAcls`], async (wire) => {
    await wire.must(putOwnership('ObjectWriter'))
    await putOpen(wire)
    await wire.must(openByList)
    expect(await statusUnsigned(wire)).toBe(200)
    await wire.must(putBlock('IgnorePublicAcls'))
    expect(await statusUnsigned(wire)).toBe(403)
  }),
  effect('PutPublicAccessBlock', [`request element:${block}/BlockPublicPolicy`], async (wire) => {
    await wire.must(putBlock('BlockPublicPolicy'))
    await refuses(wire, putPolicy, 403, 'AccessDenied')
  }),
  effect('PutPublicAccessBlock', [`request element:${block}/RestrictPublicBuckets`], async (wire) => {
    await putOpen(wire)
    await wire.must(putPolicy)
    await wire.must(putBlock('RestrictPublicBuckets'))
    expect(await statusUnsigned(wire)).toBe(403)
  }),
  answering({
    operation: 'GetPublicAccessBlock',
    it: 'what is blocked',
    given: async (wire) => void (await wire.must(putBlock(...names))),
    ask: { method: 'GET', query: { publicAccessBlock: '' } },
    elements: Object.fromEntries(names.map((name) => [`${block}/${name}`, 'true'])),
  }),
]
