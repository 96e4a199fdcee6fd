import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { killLeftovers } from '../cli/holdfast-process.ts'
import { makeAuthority, opensslProbe } from '../support/authority.ts'
import { describeInstalled } from '../support/installed.ts'
import type { AttackName } from './lock-out-attacker.ts'
import { type AttackedServer, memoryMiB, startAttacked, underAttack, waits } from './lock-out-world.ts'

/** `npm run trust` attacks with the numbers that locked all others out once. */
const isFull = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1') > 1
const ratioMax = 5
const growthMiBMax = 300
/** Below this, how busy the machine is decides more than the server does. */
const quietMsMin = 10
/**
 * Each handshake costs both sides a millisecond. And a slow reader over TLS fills 2.3 MiB of the kernel's buffers, both ends of which are this machine's here: at
 * 1,000 the kernel had no memory for TCP left (`net.ipv4.tcp_mem`, the counter TCPAbortOnMemory), and broke off whatever connection came next.
 */
const overTlsMax = 500
const warmUps = isFull ? 60 : 30
const samples = isFull ? 900 : 100
/** Of few samples, the hundredth is one accident. */
const percentile = isFull ? 0.99 : 0.95
const timeout = 10 * 60_000
/** Who is locked out stays locked out; what only happens to a machine that does something else as well does not happen each time. */
const retry = isFull ? 0 : 2

const attacks: { attack: AttackName; connections: number; full: number }[] = [
  { attack: 'pipelined-gets', connections: 12, full: 12 },
  { attack: 'slow-readers', connections: 300, full: 2000 },
  { attack: 'trickling-puts', connections: 600, full: 4200 },
  { attack: 'unfinished-heads', connections: 600, full: 4200 },
  { attack: 'bad-signatures', connections: 64, full: 256 },
]

/** Of these, short runs try the ways into the server that are not the plain one. */
const some = attacks.filter(({ attack }) => isFull || attack === 'slow-readers' || attack === 'unfinished-heads')

const slowOf = (ascending: readonly number[]): number => ascending[Math.floor(ascending.length * percentile)] ?? 0

let root: string
let server: AttackedServer
let control: AttackedServer
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-lock-out-'))
})
afterEach(async () => {
  await killLeftovers()
  await Promise.all([server?.ended, control?.ended])
  await rm(root, { recursive: true, force: true, maxRetries: 20 })
})

/**
 * The quiet value is taken before the attack, and during it from a server like the attacked one that is left alone: what slows that one down is the machine.
 */
async function start(words: readonly string[] = [], through: readonly string[] = []): Promise<void> {
  server = await startAttacked(join(root, 'attacked'), words, through)
  control = await startAttacked(join(root, 'control'), words, through)
}

async function withoutLockOut(attack: AttackName, connections: number): Promise<void> {
  await waits([server, control], warmUps)
  const [before = 0] = (await waits([server], samples)).map(slowOf)
  const beforeMiB = await memoryMiB(server)
  let mostMiB = beforeMiB
  const watch = setInterval(async () => {
    mostMiB = Math.max(mostMiB, await memoryMiB(server).catch(() => 0))
  }, 100)
  const [attacked = 0, beside = 0] = await underAttack(server, { attack, connections }, async () =>
    (await waits([server, control], samples)).map(slowOf),
  )
  clearInterval(watch)
  const ms = (value: number): string => `${value.toFixed(1)} ms`
  const seen = `quiet ${ms(before)}, under attack ${ms(attacked)}, beside it ${ms(beside)}; memory ${beforeMiB.toFixed()} to ${mostMiB.toFixed()} MiB`
  process.stdout.write(`${attack} over ${connections} connections: ${seen}\n`)
  expect(attacked, seen).toBeLessThan(ratioMax * Math.max(before, beside, quietMsMin))
  expect(mostMiB - beforeMiB, seen).toBeLessThan(growthMiBMax)
}

describe.skipIf(process.platform !== 'linux')('one client does not lock out the others', () => {
  it.each(attacks)('$attack', { timeout, retry }, async ({ attack, connections, full }) => {
    await start()
    await withoutLockOut(attack, isFull ? full : connections)
  })

  it('by more connections than the process has descriptors', { timeout, retry }, async () => {
    await start([], ['sh', '-c', 'ulimit -n 512; exec "$0" "$@"'])
    await withoutLockOut('unfinished-heads', isFull ? 4200 : 600)
  })

  it.each(some)('$attack, at two workers', { timeout, retry }, async ({ attack, connections, full }) => {
    await start(['--workers', '2'])
    await withoutLockOut(attack, isFull ? full : connections)
  })
})

describeInstalled('one client does not lock out the others over TLS', [opensslProbe], () => {
  it.skipIf(process.platform !== 'linux').each(some)(
    '$attack',
    { timeout, retry },
    async ({ attack, connections, full }) => {
      const files = { cert: join(root, 'cert.pem'), key: join(root, 'key.pem') }
      const pair = makeAuthority(root).issue('attacked')
      for (const name of ['cert', 'key'] as const) await writeFile(files[name], pair[name])
      await start(['--tls-cert', files.cert, '--tls-key', files.key])
      await withoutLockOut(attack, isFull ? Math.min(full, overTlsMax) : Math.min(connections, 200))
    },
  )
})
