/** How long a process may write: while its lease holds by its own clock, and until another member has declared it gone. */
import { beforeEach, expect, it } from 'vitest'
import { type Kv, KvUnavailable } from '../../src/kv/kv.ts'
import { limits } from '../../src/limits.ts'
import { listMembers } from '../../src/members/list-members.ts'
import { bytes, keysOf, put } from '../kv/text-entries.ts'
import { describeOverEngines } from './engines.ts'
import { leaseMs, type TestProcess, World } from './world.ts'

describeOverEngines('a lease', (open) => {
  let kv: Kv
  let world: World
  let one: TestProcess
  let other: TestProcess
  beforeEach(async () => {
    world = new World(await open())
    kv = world.kv
    one = await world.join('one')
    // They renew their leases at different times.
    await world.pass(leaseMs / 6)
    other = await world.join('other')
  })

  const writes = ({ membership }: TestProcess, key: string): Promise<boolean> =>
    membership.kv.commit({ puts: [put(key)] })
  const names = async (): Promise<string[]> => (await listMembers(kv)).map(({ host }) => host)

  it('is renewed for as long as its process runs', async () => {
    await world.pass(10 * leaseMs)
    expect(await writes(one, 'a')).toBe(true)
    expect(await names()).toEqual(['host-one', 'host-other'])
    expect(one.fatal).toEqual([])
    for (const { leaseLeftMs } of await listMembers(kv)) expect(leaseLeftMs).toBeGreaterThan(leaseMs / 2)
  })

  it('lets commits fail only on their own checks', async () => {
    await writes(one, 'a')
    expect(await one.membership.kv.commit({ checks: [{ key: bytes('a'), absent: true }], puts: [put('b')] })).toBe(
      false,
    )
    expect(one.fatal).toEqual([])
  })

  it('that can’t be renewed ends before the database says so, and nothing is sent after that', async () => {
    one.way.isCut = true
    const [{ leaseLeftMs } = { leaseLeftMs: 0 }] = await listMembers(kv)
    await world.pass(leaseLeftMs - 500)
    const sent: string[] = []
    one.way.before = async (call) => void sent.push(call)
    await expect(writes(one, 'early')).rejects.toThrow('cut')
    expect(sent).toEqual(['commit'])
    await world.pass(500)
    sent.length = 0
    one.way.isCut = false
    await expect(writes(one, 'late')).rejects.toThrow('could not renew its lease')
    await expect(writes(one, 'late')).rejects.toThrow(KvUnavailable)
    expect(sent).toEqual([])
    expect((await listMembers(kv))[0]?.leaseLeftMs).toBeGreaterThanOrEqual(0)
  })

  it('that is over leaves time for everything else to a process that keeps trying', async () => {
    one.way.isCut = true
    await world.pass(leaseMs)
    let hasTurned = false
    setImmediate(() => {
      hasTurned = true
    })
    for (let tries = 0; tries < 1000 && !hasTurned; tries++)
      await expect(writes(one, 'late')).rejects.toThrow(KvUnavailable)
    expect(hasTurned).toBe(true)
  })

  it('is counted from before the database was asked', async () => {
    // The database takes most of a lease to tell the time. The renewal then succeeds, but nothing after it does.
    let calls = 0
    one.way.before = async () => {
      if (++calls === 1) one.time.pass(leaseMs - 1_000)
      if (calls > 2) throw new KvUnavailable('cut')
    }
    while (calls < 2) await world.pass(250)
    await expect(writes(one, 'early')).rejects.toThrow('cut')
    one.time.pass(1_000)
    await expect(writes(one, 'late')).rejects.toThrow('could not renew its lease')
  })

  it('of a process that was stopped is not waited for: when it wakes, nothing is committed and it ends', async () => {
    world.stop(one)
    await world.pass(3 * leaseMs)
    expect(await names()).toEqual(['host-other'])
    expect(await other.membership.isGone(one.membership.id)).toBe(true)
    await expect(writes(one, 'late')).rejects.toThrow(KvUnavailable)
    await world.wake(one)
    expect(one.fatal.map(String)).toEqual([expect.stringContaining('declared this process gone')])
    // Tells clients that another server can do it.
    const refusal = { status: 503, message: expect.stringContaining('declared this process gone') }
    await expect(writes(one, 'later')).rejects.toMatchObject(refusal)
    expect((await keysOf(kv)).filter((key) => key.startsWith('late'))).toEqual([])
    expect(await writes(other, 'a')).toBe(true)
  })

  it('of a process that is stopped within a commit does not let it through', async () => {
    const send = world.stopInCommit(one)
    const written = writes(one, 'late')
    written.catch(() => {})
    await world.pass(3 * leaseMs)
    send()
    await expect(written).rejects.toThrow('declared this process gone')
    expect(one.fatal).toHaveLength(1)
    expect((await keysOf(kv)).filter((key) => key === 'late')).toEqual([])
  })

  it('continues after an interruption shorter than itself', async () => {
    world.stop(one)
    await world.pass(leaseMs - 500)
    await world.wake(one)
    await world.pass(3 * leaseMs)
    expect(await writes(one, 'a')).toBe(true)
    expect(one.fatal).toEqual([])
  })

  it.each([0, 1, 2, 3])(
    'kills nobody when the database is out for ten leases, %s s after a renewal',
    async (seconds) => {
      await world.pass(leaseMs + seconds * 1_000)
      for (const { way } of world.processes) way.isCut = true
      await world.pass(10 * leaseMs)
      await expect(writes(one, 'a')).rejects.toThrow(KvUnavailable)
      one.way.isCut = false
      // The other process takes longer to reach the database again.
      await world.pass(leaseMs / 2)
      other.way.isCut = false
      await world.pass(3 * leaseMs)
      expect(await names()).toEqual(['host-one', 'host-other'])
      expect(await Promise.all([writes(one, 'a'), writes(other, 'b')])).toEqual([true, true])
    },
  )

  it('kills nobody when the clock of the database is set ahead', async () => {
    await world.pass(leaseMs)
    world.databaseMs += 20 * 24 * 60 * 60 * 1000
    await world.pass(5 * leaseMs)
    expect(await names()).toEqual(['host-one', 'host-other'])
    expect(await Promise.all([writes(one, 'a'), writes(other, 'b')])).toEqual([true, true])
  })

  it('kills nobody who renews while another is about to declare it gone', async () => {
    await world.pass(leaseMs)
    const send = world.stopInCommit(other, ({ deletes = [] }) => deletes.length > 0)
    world.stop(one)
    while (!other.time.isStopped) await world.pass(250)
    await world.wake(one)
    send()
    await world.wake(other)
    await world.pass(3 * leaseMs)
    expect(await names()).toEqual(['host-one', 'host-other'])
    expect(await writes(one, 'a')).toBe(true)
  })

  it('kills nobody because the clock of the process that watches runs too fast', async () => {
    await world.pass(leaseMs)
    world.stop(one)
    for (let passedMs = 0; passedMs < leaseMs / 2; passedMs += 500) {
      other.time.pass(2_000)
      await world.pass(500)
    }
    await world.wake(one)
    await world.pass(leaseMs)
    expect(await names()).toEqual(['host-one', 'host-other'])
  })

  it('kills nobody when the process that watches was stopped within its own renewal, and the others with it', async () => {
    await world.pass(leaseMs)
    world.stop(one)
    // The other process has seen the last renewal by then.
    await world.pass(leaseMs / 2)
    const send = world.stopInCommit(other)
    await world.pass(3 * leaseMs)
    other.way.before = async () => {}
    send()
    await world.wake(other)
    await world.wake(one)
    await world.pass(leaseMs)
    expect(await names()).toEqual(['host-one', 'host-other'])
  })

  it('kills nobody when the process that watches was stopped, and the others with it', async () => {
    await world.pass(leaseMs)
    for (const process of world.processes) world.stop(process)
    await world.pass(5 * leaseMs)
    for (const process of world.processes) await world.wake(process)
    await world.pass(3 * leaseMs)
    expect(await names()).toEqual(['host-one', 'host-other'])
  })

  it('ends when its member leaves, and what it still sends is refused', async () => {
    await one.membership.leave()
    expect(await names()).toEqual(['host-other'])
    await expect(writes(one, 'late')).rejects.toThrow('stopping')
    expect(await other.membership.isGone(one.membership.id)).toBe(true)
    expect(one.fatal).toEqual([])
    // The engine stays open, because it does not belong to the member.
    expect(await kv.commit({ puts: [put('a')] })).toBe(true)
  })

  it('lets its member leave while the database does not tell what became of a commit', async () => {
    one.way.before = async (call) => {
      if (call !== 'commit') return
      one.way.underWay--
      await new Promise(() => {})
    }
    // The renewal waits, and removing the records would wait too.
    await world.pass(leaseMs / 2)
    const left = one.membership.leave().then(() => 'left')
    await world.pass(limits.leavePatienceMs)
    expect(await Promise.race([left, 'waits'])).toBe('left')
    await world.pass(2 * leaseMs)
    expect(await names()).toEqual(['host-other'])
  })

  it('was never held by an id that no member had', async () => {
    expect(await one.membership.isGone('0'.repeat(32))).toBe(true)
    expect(await one.membership.isGone(one.membership.id)).toBe(false)
    expect(await one.membership.isGone(other.membership.id)).toBe(false)
  })
})
