/** All mutations, by rooms. Each survivor that was found belongs here, with the test that kills it now. */
import { accessMutations } from './access.ts'
import { dataMutations } from './data.ts'
import { identityMutations } from './identities.ts'
import { metadataMutations } from './metadata.ts'
import type { Mutation } from './mutation.ts'
import { outsideMutations } from './outside.ts'

export const mutations: readonly Mutation[] = [
  ...metadataMutations,
  ...dataMutations,
  ...outsideMutations,
  ...accessMutations,
  ...identityMutations,
]
