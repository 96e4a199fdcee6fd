import { limits } from '../../src/limits.ts'
import { memoryShardStore } from '../../src/stores/memory.ts'
import { patternBytes, seededClock, seededRandom } from '../support/seeded.ts'
import { describeShardStore, put } from './suite.ts'

describeShardStore('memory', async () => {
  const clock = seededClock(seededRandom(1))
  const store = memoryShardStore({ clock, bytesMax: 64 * limits.readChunkBytes })
  const fillers: string[] = []
  return {
    store,
    clock,
    fill: async () => {
      fillers.push(await put(store, patternBytes(0, (await store.usage()).freeBytes ?? 0)))
    },
    empty: () => store.delete(fillers),
    dispose: () => store.close(),
  }
})
