/** What every store in a bucket must do with the batches of its members. */
import { describeOwnedBatches, type SharedPlace, sharedClock } from '../batches/owned-batches.ts'
import { type FarSide, openRemote } from './far-side.ts'

const pending = 'a/b/pending/'

async function openPlace(openSide: () => Promise<FarSide>): Promise<SharedPlace> {
  const side = await openSide()
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

export function describeOwnedRemoteBatches(name: string, openSide: () => Promise<FarSide>): void {
  const oldBatch = `0192f0${'0'.repeat(26)}`
  describeOwnedBatches(name, () => openPlace(openSide), { sizes: [1000], oldBatch })
}
