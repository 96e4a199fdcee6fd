/** A crash at every file operation, with loss of what was not synced. `HOLDFAST_CRASH_SEEDS` sets how many seeds are tried. */
import { describe, expect, test } from 'vitest'
import { seededClock, seededRandom } from '../../support/seeded.ts'
import { SimulatedFs, type SimulatedFsOptions } from '../simulated-fs.ts'
import { inPlaceSizes, openStore, tinySizes } from './opened-store.ts'
import { checkOrder, checkStore, Ledger, runWorkload } from './workload.ts'

const path = '/mnt/disk/store'
const seeds = Number(process.env.HOLDFAST_CRASH_SEEDS ?? 1)
type Broken = SimulatedFsOptions['broken']
type Sizes = typeof tinySizes

interface Life {
  sizes: Sizes
  broken?: Broken
}

/** Resolves when the machine stops; with `false` when the life ends before that. */
async function liveUntilCrash(fs: SimulatedFs, seed: number, sizes: Sizes, ledger: Ledger): Promise<boolean> {
  const life = openStore({ path, fs, clock: seededClock(seededRandom(seed)), ...sizes }).then(({ store }) =>
    runWorkload(store, ledger),
  )
  return Promise.race([life.then(() => false), fs.crashed.then(() => true)])
}

/** Opens what the crash left, perhaps crashing again on the way, and compares it with the ledger. */
async function recoverAndCheck(
  left: SimulatedFs,
  seed: number,
  ledger: Ledger,
  { sizes, broken }: Life,
): Promise<void> {
  const random = seededRandom(seed)
  let fs = left
  if (random() < 0.3) {
    fs.crashAt = Math.floor(random() * 40)
    const opened = openStore({ path, fs, clock: seededClock(random), ...sizes })
    const cut = await Promise.race([
      opened.then(({ store }) => checkStore(store, ledger)).then(() => false),
      fs.crashed.then(() => true),
    ])
    if (!cut) return
    fs = fs.afterCrash({ random, broken })
  }
  const { store, warnings } = await openStore({ path, fs, clock: seededClock(random), ...sizes })
  await checkStore(store, ledger)
  const again = await openStore({ path, fs, clock: seededClock(random), ...sizes })
  await checkStore(again.store, ledger)
  checkOrder({ files: fs.files(), warnings: [...warnings, ...again.warnings] })
}

/** Tries each call of the workload as the last one. Returns the first violation, with what replays it. */
async function crashEverywhere(seed: number, life: Life, step = 1): Promise<string | undefined> {
  const { sizes, broken } = life
  for (let crashAt = 0; ; crashAt += step) {
    const ledger = new Ledger()
    const random = seededRandom(seed * 1_000_003 + crashAt)
    const fs = new SimulatedFs({ random, broken })
    fs.crashAt = crashAt
    const crashed = await liveUntilCrash(fs, seed, sizes, ledger)
    const left = fs.afterCrash({ random, broken })
    try {
      await recoverAndCheck(left, crashAt, ledger, life)
    } catch (error) {
      return `seed ${seed}, crash at call ${crashAt} (${fs.calls.at(-1)?.name} ${fs.calls.at(-1)?.path}): ${error}`
    }
    if (!crashed) return undefined
  }
}

describe('a crash at any file operation', () => {
  describe.each([
    ['large shards in files of their own', tinySizes],
    ['shards written in place into segments', inPlaceSizes],
  ])('%s', (_, sizes) => {
    test.each(Array.from({ length: seeds }, (_, seed) => seed))(
      'loses nothing acknowledged and leaves no orphan that cannot be found (seed %i)',
      async (seed) => {
        expect(await crashEverywhere(seed, { sizes })).toBeUndefined()
      },
      600_000,
    )
  })

  const forgotten = [
    ['write', /\/segments\//],
    ['datasync', /\/segments\//],
    ['datasync', /\/files\//],
    ['datasync', /\/dead\//],
    ['datasync', /holdfast-store/],
    ['syncDirectory', /\/mnt$/],
    ['syncDirectory', /\/store$/],
    ['syncDirectory', /\/pending$/],
    ['syncDirectory', /\/segments$/],
    ['syncDirectory', /\/files$/],
    ['syncDirectory', /\/files\/./],
    ['syncDirectory', /\/dead$/],
    ['syncDirectory', /\/dead\/./],
  ] as const
  test.each(forgotten)('is noticed when a %s of %s does nothing', async (name, at) => {
    const broken: Broken = (call) => call.name === name && at.test(call.path)
    const life = { sizes: tinySizes, broken }
    const violation = (await crashEverywhere(0, life, 3)) ?? (await crashEverywhere(1, life, 3))
    expect(violation).toMatch(/seed ., crash at call/)
  })

  test('is noticed when a write in place does nothing', async () => {
    // The workload's shard of 16,384 bytes, and a page with its head.
    const broken: Broken = ({ name, bytes }) => name === 'write' && bytes === 20_480
    expect(await crashEverywhere(0, { sizes: inPlaceSizes, broken }, 3)).toMatch(/seed ., crash at call/)
  })
})
