/** How condition operators read values: numbers, times, Booleans, addresses, ARNs. `undefined`: not such a value. Pure. */
import { BlockList, isIPv4, isIPv6 } from 'node:net'

export function readNumber(text: string): number | undefined {
  return /^[+-]?\d{1,32}(?:\.\d{1,32})?$/.test(text) ? Number(text) : undefined
}

const isoTime = /^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?)?)?$/

/** Milliseconds since the epoch, of ISO 8601 (as W3C narrows it) or of seconds since the epoch. Four digits are a year. */
export function readTime(text: string): number | undefined {
  if (isoTime.test(text)) {
    const ms = Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
    return Number.isNaN(ms) ? undefined : ms
  }
  return /^-?\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) * 1000 : undefined
}

export function readBoolean(text: string): boolean | undefined {
  const lower = text.toLowerCase()
  return lower === 'true' ? true : lower === 'false' ? false : undefined
}

/** Of base64. */
export function readBinary(text: string): Buffer | undefined {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

export interface AddressRange {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  readonly prefixBits: number
}

/** `203.0.113.0/24`, `2001:db8::/32`, or one address. */
export function readRange(text: string): AddressRange | undefined {
  const [address = '', bits, ...rest] = text.split('/')
  if (rest.length > 0) return undefined
  const family = familyOf(address)
  if (family === undefined) return undefined
  const bitsMax = family === 'ipv4' ? 32 : 128
  if (bits === undefined) return { address, family, prefixBits: bitsMax }
  const prefixBits = /^\d{1,3}$/.test(bits) ? Number(bits) : bitsMax + 1
  return prefixBits <= bitsMax ? { address, family, prefixBits } : undefined
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  if (isIPv4(address)) return 'ipv4'
  // A zone is of one machine's own.
  return isIPv6(address) && !address.includes('%') ? 'ipv6' : undefined
}

/** Whether an address lies in one of the ranges. An IPv4 address may come in the form that IPv6 has for it. */
export function rangesMatcher(ranges: readonly AddressRange[]): (address: string) => boolean {
  const list = new BlockList()
  for (const { address, family, prefixBits } of ranges) list.addSubnet(address, prefixBits, family)
  return (address) => {
    const family = familyOf(address)
    return family !== undefined && list.check(address, family)
  }
}

/** The six parts of an ARN. The last keeps its colons. */
export function arnParts(text: string): readonly string[] | undefined {
  const parts = text.split(':')
  if (parts.length < 6 || parts[0] !== 'arn') return undefined
  return [...parts.slice(0, 5), parts.slice(5).join(':')]
}
