/** The number of the last change of identities. A process that knows another number reads all identities again. */
import type { Put } from '../kv/kv.ts'
import { generationCodec } from '../records/identity-records.ts'
import { identityGenerationKey } from '../records/keyspace.ts'
import type { Backend } from './backend.ts'
import { commitDecision } from './commit.ts'

export function generationPut(generation: number): Put {
  return { key: identityGenerationKey, value: generationCodec.encode(identityGenerationKey, { generation }) }
}

/** For changes of how identities are stored that leave the identities themselves as they are. */
export function advanceGeneration(backend: Pick<Backend, 'kv' | 'clock'>): Promise<void> {
  return commitDecision(backend, async () => {
    const key = identityGenerationKey
    const [entry] = await backend.kv.get([key])
    const before = entry === undefined ? 0 : generationCodec.decode(key, entry.value).generation
    const check = entry === undefined ? ({ key, absent: true } as const) : { key, version: entry.version }
    return { result: undefined, commit: { checks: [check], puts: [generationPut(before + 1)] } }
  })
}
