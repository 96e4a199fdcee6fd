/** Time, randomness and ids. No other file asks the machine for them, so that tests can control them. */
import { randomBytes, randomFillSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/** A time on a monotonic clock that continues while the machine sleeps. Only times of the same boot can be compared. */
export interface Uptime {
  boot: string
  ms: number
}

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  uptime(): Uptime
  /** `size` fresh random bytes. */
  random(size: number): Buffer
}

const poolBytes = 4096
let pool = Buffer.alloc(0)
let poolUsed = 0

/** Takes random bytes from a pool, so that one system call serves a few hundred ids. */
function pooledRandom(size: number): Buffer {
  if (size > poolBytes) return randomFillSync(Buffer.alloc(size))
  if (poolUsed + size > pool.length) {
    pool = randomFillSync(Buffer.allocUnsafeSlow(poolBytes))
    poolUsed = 0
  }
  poolUsed += size
  return pool.subarray(poolUsed - size, poolUsed)
}

let boot: string | undefined

/** Linux names each boot, so that times of several processes compare. Elsewhere each process can only measure for itself. */
function systemUptime(): Uptime {
  boot ??= bootId() ?? `process ${randomBytes(16).toString('hex')}`
  return { boot, ms: boot.startsWith('process') ? performance.now() : uptime() * 1000 }
}

function bootId(): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}

export const systemClock: Clock = { now: () => Date.now(), uptime: systemUptime, random: pooledRandom }

const timeDigits = 12

/** An id that sorts by time of creation: 12 hex digits of milliseconds, then 20 of randomness. */
export function timeOrderedId(clock: Clock): string {
  return clock.now().toString(16).padStart(timeDigits, '0') + clock.random(10).toString('hex')
}

/** No id that `timeOrderedId` makes at that time or later sorts before it. */
export const firstIdSince = (timeMs: number): string => Math.max(0, timeMs).toString(16).padStart(timeDigits, '0')

/** Milliseconds since the epoch at which `timeOrderedId` made `id`. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, timeDigits), 16)
}

/** An id with no meaning: 128 random bits in hex. */
export function randomId(clock: Clock): string {
  return clock.random(16).toString('hex')
}

const digits = '0123456789'
const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const alphanumeric = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

// These have the form of AWS's keys and ids. No character needs quoting anywhere.
export const randomAccessKeyId = (clock: Clock): string => `HF${randomText(clock, capitals, 18)}`
/** 238 bits. */
export const randomSecret = (clock: Clock): string => randomText(clock, alphanumeric, 40)
/** 85 random bits: no two users ever get the same. */
export const randomUserId = (clock: Clock): string => `AIDA${randomText(clock, capitals, 17)}`
export const randomAccountId = (clock: Clock): string => randomText(clock, digits, 12)

function randomText(clock: Clock, alphabet: string, length: number): string {
  // Bytes beyond the last whole multiple of the alphabet's length would favour its first characters.
  const usable = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of clock.random(length)) {
      if (byte < usable && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}
