/** IPv4 and IPv6 addresses and ranges (CIDR). An IPv4 address in IPv6 form is the same address. Pure. */
import { isIPv4, isIPv6 } from 'node:net'

/** The eight groups of an IPv6 address. An IPv4 address is mapped to its IPv6 form. */
type AddressGroups = readonly number[]

export interface AddressRange {
  readonly family: 'ipv4' | 'ipv6'
  /** As written: out of 32 for IPv4, out of 128 for IPv6. */
  readonly prefixBits: number
  readonly groups: AddressGroups
}

/** `203.0.113.0/24`, `2001:db8::/32`, or one address. */
export function readAddressRange(text: string): AddressRange | undefined {
  const [address = '', bits, ...rest] = text.split('/')
  const groups = readAddress(address)
  if (rest.length > 0 || groups === undefined) return undefined
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  const bitsMax = family === 'ipv4' ? 32 : 128
  const prefixBits = bits === undefined ? bitsMax : /^\d{1,3}$/.test(bits) ? Number(bits) : bitsMax + 1
  return prefixBits <= bitsMax ? { family, prefixBits, groups } : undefined
}

const v4Start: AddressGroups = [0, 0, 0, 0, 0, 0xffff]

/** `undefined`: not an address. */
function readAddress(text: string): AddressGroups | undefined {
  if (isIPv4(text)) return [...v4Start, ...v4Groups(text)]
  // A zone has a meaning on one machine only.
  if (!isIPv6(text) || text.includes('%')) return undefined
  const [start = '', end] = text.split('::')
  const before = groupsOf(start)
  if (end === undefined) return before
  const after = groupsOf(end)
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
}

/** The last part can be in IPv4 form, which makes two groups. */
function groupsOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => (group.includes('.') ? v4Groups(group) : [Number.parseInt(group, 16)]))
}

function v4Groups(text: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}

// The last address and its groups, because all statements of a policy test the same one.
let lastText = ''
let lastGroups: AddressGroups | undefined

/** Whether an address lies in one of the ranges. */
export function isInAddressRanges(address: string, ranges: readonly AddressRange[]): boolean {
  if (address !== lastText) {
    lastGroups = readAddress(address)
    lastText = address
  }
  const groups = lastGroups
  return groups !== undefined && ranges.some((range) => isInRange(groups, range))
}

function isInRange(groups: AddressGroups, { family, prefixBits, groups: start }: AddressRange): boolean {
  // A wide range of IPv6, such as `::/0`, would hold all of IPv4 too, because of the form that IPv4 has here. To S3, no IPv4 address lies in it.
  if (family === 'ipv6' && prefixBits < 96 && v4Start.every((group, i) => groups[i] === group)) return false
  let bits = family === 'ipv4' ? prefixBits + 96 : prefixBits
  for (let i = 0; bits > 0; i++, bits -= 16) {
    const ignored = Math.max(16 - bits, 0)
    if ((groups[i] ?? 0) >>> ignored !== (start[i] ?? 0) >>> ignored) return false
  }
  return true
}
