import { describeOwnedBatches, type SharedPlace, sharedClock } from '../batches/owned-batches.ts'
import { openFarSide, openRemote } from './far-side.ts'

const pending = 'a/b/pending/'

async function openPlace(): Promise<SharedPlace> {
  const side = await openFarSide()
  const open: SharedPlace['open'] = async (member, firstOpener = false) =>
    (await openRemote(side.address, { clock: sharedClock, firstOpener, member })).store
  await (await open(undefined)).close()
  return {
    open,
    markers: async () =>
      (await side.keys()).filter((key) => key.startsWith(pending)).map((key) => key.slice(pending.length)),
    mark: (name) => side.write(pending + name, Buffer.alloc(0)),
    dispose: () => side.close(),
  }
}

describeOwnedBatches('a bucket', openPlace, { sizes: [1000], oldBatch: `0192f0${'0'.repeat(26)}` })
