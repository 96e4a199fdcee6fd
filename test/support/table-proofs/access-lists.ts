/** Proofs of access control lists that come with a write. */
import { expect } from 'vitest'
import { grantsOf, ownedBy } from '../wire-acl.ts'
import type { Proof } from './proof.ts'
import { ofWrites, writing } from './writes.ts'

const permissions = {
  'grant-full-control': 'FULL_CONTROL',
  'grant-read': 'READ',
  'grant-read-acp': 'READ_ACP',
  'grant-write': 'WRITE',
  'grant-write-acp': 'WRITE_ACP',
} as const

/** What a write grants is granted. */
export const accessListProofs: readonly Proof[] = Object.entries(permissions).flatMap(([name, permission]) =>
  ofWrites(`request vendor:${name}`, async (wire, operation) => {
    await ownedBy('ObjectWriter')(wire)
    expect((await writing(operation)(wire, { vendor: { [name]: 'id=other' } })).status).toBe(200)
    expect(await grantsOf(wire, { key: 'a' })).toEqual([`other ${permission}`])
  }),
)
