/** Mutations of access control lists: who owns what is written, which lists are taken, and which object a decision is about. */
import type { Mutation } from './mutation.ts'

export const accessListMutations: readonly Mutation[] = [
  {
    name: 'the owner of a bucket reads whatever is in it',
    file: 'operations/access/authorize.ts',
    find: 'bucket.policy === undefined && bucket.ownership === undefined',
    replace: 'bucket.policy === undefined',
    suite: 'operations/access/authorize.test.ts',
  },
  {
    name: 'who may list a bucket reads what is in it',
    file: 'operations/access/authorize.ts',
    find: "if (asker.existing?.() !== 'none') return false",
    replace: '',
    suite: 'operations/access/authorize.test.ts',
  },
  {
    name: 'a decision is about the object that was there before',
    file: 'operations/access/request-scope.ts',
    find: "if (this.#existing !== undefined) return this.#existing() ?? 'none'",
    replace: '',
    suite: 'operations/access/authorize.test.ts',
  },
  {
    name: 'public lists are taken where they are blocked',
    file: 'operations/access-lists/access-list.ts',
    find: "if (isPublicList(grants) && publicAccessBlock?.blockPublicAcls === true) throw new S3Error('AccessDenied')",
    replace: '',
    suite: 'wire/access-lists.test.ts',
  },
  {
    name: 'lists are given away with another owner',
    file: 'operations/access-lists/access-list.ts',
    find: "if (asked.by === 'document' && asked.owner !== owner) throw new S3Error('AccessDenied')",
    replace: '',
    suite: 'wire/bucket-acl.test.ts',
  },
  {
    name: 'a list that was taken away comes back with the others',
    file: 'objects/change-version.ts',
    find: 'withAttributes(record, { grants: grantsIn(bucket, record.attributes) })',
    replace: 'withAttributes(record, { grants: grantsIn(bucket, record.attributes) ?? record.attributes.grants })',
    suite: 'wire/access-lists.test.ts',
  },
  {
    name: 'a bucket closes its eyes to the list that opens it',
    file: 'operations/access-lists/bucket-ownership-controls.ts',
    find: 'if (grantsToOthers(bucket.grants, bucket.owner)) throw',
    replace: 'if (bucket.owner === undefined) throw',
    suite: 'wire/bucket-ownership-controls.test.ts',
  },
  {
    name: 'what another account writes is the bucket owner’s',
    file: 'rules/access-list.ts',
    find: 'if (ownership === undefined || accountId === bucket.owner) return undefined',
    replace: 'if (bucket.owner !== undefined) return undefined',
    suite: 'rules/access-list.test.ts',
  },
  {
    name: 'shards do not tell whose an object is',
    file: 'records/object-attributes.ts',
    find: 'export const laterAttributes = { owner: text, originalMs: number }',
    replace: 'export const laterAttributes = { originalMs: number }',
    suite: 'jobs/recover.test.ts',
  },
  {
    name: 'a form with half of a signature is anonymous',
    file: 'auth/verify-form.ts',
    find: 'if (mechanism === undefined && !claims.some((name) => fields.has(name))) return nobody',
    replace: 'if (mechanism === undefined) return nobody',
    suite: 'auth/verify-form.test.ts',
  },
]
