/** Mutations of storage classes: where data belongs, which class rules give, and what follows. */
import type { Mutation } from './mutation.ts'

const transitions = 'jobs/lifecycle/transitions.test.ts'
const rules = 'rules/transitions.test.ts'

export const storageClassMutations: readonly Mutation[] = [
  {
    name: 'parts lie where the bucket does, whatever their class is',
    file: 'objects/upload-parts.ts',
    find: 'backend.blobs.locationFor(bucket.location, upload.attributes.storageClass)',
    replace: 'bucket.location',
    suite: transitions,
  },
  {
    name: 'data does not follow its class',
    file: 'objects/change-version.ts',
    find: '[movePutOfVersion(bucket, address.key, record)]',
    replace: '[]',
    suite: transitions,
  },
  {
    name: 'a class is given to what has been overwritten since it was seen',
    file: 'jobs/lifecycle/transition-due.ts',
    find: 'record.sequence === due.sequence && ',
    replace: '',
    suite: transitions,
  },
  {
    name: 'only the note of an upload follows its class',
    file: 'jobs/moves/queued-moves.ts',
    find: "if (record.data.kind !== 'parts') return",
    replace: 'return',
    suite: transitions,
  },
  {
    name: 'what belongs elsewhere than its bucket is queued to be brought back',
    file: 'commits/move-queue.ts',
    find: 'blob.location !== blobs.locationFor(bucket.location, version.attributes.storageClass)',
    replace: 'blob.location !== bucket.location',
    suite: transitions,
  },
  {
    name: 'rules bring objects up again',
    file: 'rules/lifecycle.ts',
    find: 'transitionRank(last) > transitionRank(storageClass) ? last : undefined',
    replace: 'last',
    suite: rules,
  },
]
