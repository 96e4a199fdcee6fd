import { describeShardStore } from '../suite.ts'
import { openFarSide, openRemote } from './far-side.ts'

describeShardStore('a bucket of another server', async () => {
  const side = await openFarSide()
  const { store, clock } = await openRemote(side.address)
  return {
    store,
    clock,
    fill: side.fill,
    empty: side.empty,
    fileNames: side.keys,
    dispose: async () => {
      await store.close()
      await side.close()
    },
  }
})
