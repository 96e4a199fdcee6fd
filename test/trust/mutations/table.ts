/** All mutations, by rooms. Each survivor that was found belongs here, with the test that kills it now. */
import { accessMutations } from './access.ts'
import { accessListMutations } from './access-lists.ts'
import { dataMutations } from './data.ts'
import { eventMutations } from './events.ts'
import { identityMutations } from './identities.ts'
import { metadataMutations } from './metadata.ts'
import type { Mutation } from './mutation.ts'
import { outsideMutations } from './outside.ts'
import { replicationMutations } from './replication.ts'
import { severalHostsMutations } from './several-hosts.ts'
import { storageClassMutations } from './storage-classes.ts'
import { temporaryKeyMutations } from './temporary-keys.ts'

export const mutations: readonly Mutation[] = [
  ...metadataMutations,
  ...dataMutations,
  ...eventMutations,
  ...replicationMutations,
  ...storageClassMutations,
  ...outsideMutations,
  ...severalHostsMutations,
  ...accessMutations,
  ...identityMutations,
  ...accessListMutations,
  ...temporaryKeyMutations,
]
