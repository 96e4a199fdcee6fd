/** Room for stripes: bounded, in turn, and nobody's twice. */
import { describe, expect, it } from 'vitest'
import { openTableKernel } from '../../../src/blobs/erasure/table-kernel.ts'
import { Workspaces } from '../../../src/blobs/erasure/workspaces.ts'

const unitBytes = 100
const opened = () => new Workspaces(openTableKernel(4096), unitBytes, 4096)

/** What is settled once every promise that can settle has. */
async function settled<T>(promises: readonly Promise<T>[]): Promise<boolean[]> {
  const done = promises.map(() => false)
  promises.forEach((promise, index) => {
    promise.then(() => {
      done[index] = true
    })
  })
  await new Promise((resolve) => setImmediate(resolve))
  return done
}

describe('workspaces', () => {
  it('give no byte to two holders', async () => {
    const workspaces = opened()
    const holders = await Promise.all([workspaces.take(3), workspaces.take(workspaces.unitsMax - 3)])
    const units = holders.flatMap((holder) => [...holder.units])
    expect(units).toHaveLength(workspaces.unitsMax)
    units.forEach((unit, index) => {
      unit.fill(index)
    })
    expect(units.map((unit) => unit.equals(Buffer.alloc(unitBytes, units.indexOf(unit))))).toEqual(
      units.map(() => true),
    )
  })

  it('make those wait who find no room, and serve them in order, so that none starves', async () => {
    const workspaces = opened()
    const first = await workspaces.take(workspaces.unitsMax - 1)
    const large = workspaces.take(2)
    const small = workspaces.take(1)
    expect(await settled([large, small])).toEqual([false, false])
    expect(workspaces.tryTake(1)).toBeUndefined()
    first.release()
    expect(await settled([large, small])).toEqual([true, true])
    expect((await large).units).toHaveLength(2)
  })

  it('have the same room again and again, however often it is given back', async () => {
    const workspaces = opened()
    for (let round = 0; round < 100; round++) {
      const all = await workspaces.take(workspaces.unitsMax)
      expect(workspaces.tryTake(1)).toBeUndefined()
      all.release()
      all.release()
    }
    expect(workspaces.tryTake(workspaces.unitsMax)?.units).toHaveLength(workspaces.unitsMax)
  })

  it('use the room that was used last, so that idle room costs no memory', async () => {
    const workspaces = opened()
    const first = await workspaces.take(2)
    first.release()
    const second = await workspaces.take(2)
    expect(second.units.map((unit) => unit.byteOffset)).toEqual(first.units.map((unit) => unit.byteOffset))
  })

  it('refuse what they never have room for', async () => {
    const workspaces = opened()
    await expect(workspaces.take(workspaces.unitsMax + 1)).rejects.toThrow('do not fit')
  })

  it('compute nothing once they are given back', async () => {
    const workspaces = opened()
    const copy = workspaces.computation([0], [1], [Uint8Array.of(1)])
    const workspace = await workspaces.take(2)
    workspace.release()
    expect(() => workspace.compute(copy, 1)).toThrow('released')
  })

  it.each([
    ['sources', [0, 1], [2]],
    ['targets', [0], [1, 2]],
  ])('refuse coefficients for other %s', (_, sources, targets) => {
    expect(() => opened().computation(sources, targets, [Uint8Array.of(1)])).toThrow('coefficients are not those')
  })

  it('compute nothing for units that they have not', async () => {
    const workspaces = opened()
    const copy = workspaces.computation([0], [2], [Uint8Array.of(1)])
    const workspace = await workspaces.take(2)
    expect(() => workspace.compute(copy, 1)).toThrow('no unit 2 of 2')
  })

  it('leave the neighbour alone when a unit is computed whole', async () => {
    const workspaces = opened()
    const copy = workspaces.computation([0], [1], [Uint8Array.of(1)])
    const [mine, other] = [await workspaces.take(2), await workspaces.take(1)]
    for (const unit of [...mine.units, ...other.units]) unit.fill(7)
    mine.units[0]?.fill(9)
    mine.compute(copy, unitBytes)
    expect([mine.units[1], other.units[0]]).toEqual([Buffer.alloc(unitBytes, 9), Buffer.alloc(unitBytes, 7)])
  })
})

describe('a workspace', () => {
  it('takes chunks of any length into its data units, and pads what they leave', async () => {
    const workspace = await opened().take(3)
    for (const unit of workspace.units) unit.fill(0xee)
    const payload = Buffer.from('abcdefghijklmnop')
    const taken = [payload.subarray(0, 1), payload.subarray(1, 7), payload.subarray(7)].reduce(
      (at, chunk) => at + workspace.fill(chunk, at, 2, 5),
      0,
    )
    expect(taken).toBe(10)
    expect(workspace.units.map((unit) => unit.toString('latin1', 0, 6))).toEqual([
      'abcde\xee',
      'fghij\xee',
      '\xee'.repeat(6),
    ])
    workspace.pad(3, 2, 5)
    expect(workspace.units.map((unit) => unit.toString('latin1', 0, 6))).toEqual([
      'abc\0\0\xee',
      '\0\0\0\0\0\xee',
      '\xee'.repeat(6),
    ])
  })
})
