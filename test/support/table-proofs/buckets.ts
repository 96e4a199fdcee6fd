/** Proofs of what CreateBucket is asked for beside a place. */
import { expect } from 'vitest'
import type { Ask } from '../wire-client.ts'
import { effect, type Proof, refuses, texts } from './proof.ts'

const put = (bucket: string, more: Partial<Ask> = {}): Ask => ({ method: 'PUT', bucket, ...more })

export const bucketProofs: readonly Proof[] = [
  effect('CreateBucket', ['request vendor:object-ownership'], async (wire) => {
    await refuses(wire, put('made', { vendor: { 'object-ownership': 'Nobody' } }), 400, 'InvalidArgument')
    await wire.must(put('made', { vendor: { 'object-ownership': 'ObjectWriter' } }))
    const found: Ask = { method: 'GET', bucket: 'made', query: { ownershipControls: '' } }
    expect(await texts(wire, found, 'OwnershipControls/Rule/ObjectOwnership')).toEqual(['ObjectWriter'])
  }),
  effect('CreateBucket', ['request vendor:bucket-namespace'], async (wire) => {
    const regional = put('made', { vendor: { 'bucket-namespace': 'account-regional' } })
    await refuses(wire, regional, 501, 'NotImplemented')
    await wire.must(put('made', { vendor: { 'bucket-namespace': 'global' } }))
  }),
]
