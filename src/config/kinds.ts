/** The kinds of values that an option can hold: how each is written, and how it is read. Knows no options. */
import { resolve } from 'node:path'
import { readAddressRange } from '../address-range.ts'
import { isKeyName, storeKeyName } from '../encryption/key-ring.ts'
import { limits } from '../limits.ts'
import { ConfigurationError } from './configuration-error.ts'
import { drivesRefusal, namesSeveralDrives } from './drives.ts'

/** How an option's value is written. All sources (flags, variables and TOML) give texts. */
export interface Kind<T> {
  /** Stands for the value in help and docs: `HOST:PORT`. Empty for a switch, whose flag takes no value, and whose TOML value is a boolean. */
  readonly placeholder: string
  /** Whether there may be several values: a repeated flag, a variable with commas, a TOML array. */
  readonly repeatable: boolean
  /** `directory`: the base of relative paths. Throws `ConfigurationError`, which does not name the source. */
  parse(texts: readonly string[], directory: string): T
}

export interface ListenAddress {
  /** A name or IP address; empty for every interface. */
  host: string
  /** 0: the system picks one. */
  port: number
}

export interface AdminAddress extends ListenAddress {
  /** The address is not configured: if it is in use, the server does without an admin port. */
  isDefault: boolean
}

/** The text for a switch's flag, which has no value of its own. */
export const switchedOn = 'true'

function one<T>(placeholder: string, parse: (text: string, directory: string) => T): Kind<T> {
  return { placeholder, repeatable: false, parse: (texts, directory) => parse((texts.at(-1) ?? '').trim(), directory) }
}

function many<T>(placeholder: string, parse: (text: string) => T): Kind<T[]> {
  return { placeholder, repeatable: true, parse: (texts) => texts.map((text) => parse(text.trim())) }
}

/** A path, made absolute. */
export const path: Kind<string> = one('PATH', (text, directory) => {
  if (text === '' || text.includes('\0')) throw new ConfigurationError('expects a path')
  return resolve(directory, text)
})

/** The path of the data directory. Refuses MinIO's notation for several drives, which would otherwise be taken for a name. */
export const dataPath: Kind<string> = one('PATH', (text, directory) => {
  if (namesSeveralDrives(text)) throw new ConfigurationError(drivesRefusal([text]))
  return path.parse([text], directory)
})

const addressPattern = /^(?:\[(?<ipv6>[0-9a-fA-F:.]+(?:%[\w.]+)?)\]|(?<host>[\w.-]*)):(?<port>\d{1,5})$/

/** `HOST:PORT`, `[IPV6]:PORT`, or `:PORT` for every interface. */
export const address: Kind<ListenAddress> = one('HOST:PORT', (text) => {
  const groups = addressPattern.exec(text)?.groups
  const port = Number(groups?.port)
  if (groups === undefined || port > 65_535) {
    throw new ConfigurationError(`expects HOST:PORT, :PORT or [IPV6]:PORT with a port up to 65535, not '${text}'`)
  }
  return { host: groups.ipv6 ?? groups.host ?? '', port }
})

/** Like `address`, or `off`, which gives `undefined`. */
export const addressOrOff: Kind<ListenAddress | undefined> = one('HOST:PORT|off', (text) =>
  text === 'off' ? undefined : address.parse([text], ''),
)

export function count(least: number, most: number): Kind<number> {
  return one('N', (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least && value <= most)) {
      throw new ConfigurationError(`expects a whole number from ${least} to ${most}, not '${text}'`)
    }
    return value
  })
}

/** Like `count`, or `auto`. */
export function countOrAuto(least: number, most: number): Kind<number | 'auto'> {
  return one('N|auto', (text) => {
    if (text === 'auto') return text
    try {
      return count(least, most).parse([text], '')
    } catch {
      throw new ConfigurationError(`expects a whole number from ${least} to ${most}, or auto, not '${text}'`)
    }
  })
}

const atLeast = (least: number, format: (value: number) => string): string =>
  least === 0 ? '' : `, of at least ${format(least)}`

const unitsMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const durationMsMax = 3650 * 86_400_000

/** A duration in milliseconds. A number without a unit counts seconds. */
export function duration(leastMs: number): Kind<number> {
  return one('DURATION', (text) => {
    const [, number, unit] = /^(\d{1,12})\s*(ms|s|m|h|d)?$/.exec(text) ?? []
    const value = Number(number) * (unitsMs[unit ?? 's'] ?? Number.NaN)
    if (!(value >= leastMs && value <= durationMsMax)) {
      throw new ConfigurationError(
        `expects a duration such as 30s, 5m, 1h or 7d${atLeast(leastMs, formatDuration)}, not '${text}'`,
      )
    }
    return value
  })
}

/** Like `duration`, or `never`, which gives `undefined`. */
export function durationOrNever(leastMs: number): Kind<number | undefined> {
  return one('DURATION|never', (text) => (text === 'never' ? undefined : duration(leastMs).parse([text], '')))
}

const byteUnits: Record<string, number> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 }

/** NaN when the text is not a size. */
function parseBytes(text: string): number {
  const [, number, unit = ''] = /^(\d{1,16})\s*(KiB|MiB|GiB|TiB)?$/.exec(text) ?? []
  const bytes = Number(number) * (byteUnits[unit] ?? Number.NaN)
  return Number.isSafeInteger(bytes) ? bytes : Number.NaN
}

/** A size in bytes. */
export function size(least: number): Kind<number> {
  return one('SIZE', (text) => {
    const value = parseBytes(text)
    if (value >= least) return value
    throw new ConfigurationError(
      `expects bytes such as 64MiB or 1GiB${atLeast(least, formatBytesExactly)}, not '${text}'`,
    )
  })
}

/** The minimum rate in bytes a second, or `off`, which gives 0. */
export const leastRate: Kind<number> = one('SIZE|off', (text) => {
  const value = text === 'off' ? 0 : parseBytes(text)
  if (value >= 0) return value
  throw new ConfigurationError(`expects bytes a second such as 512 or 1KiB, or off, not '${text}'`)
})

/** A rate in bytes a second, or `unlimited`, which gives `undefined`. */
export const rate: Kind<number | undefined> = one('SIZE|unlimited', (text) => {
  if (text === 'unlimited') return undefined
  const value = parseBytes(text)
  if (value >= 1) return value
  throw new ConfigurationError(`expects bytes a second such as 500KiB, 50MiB or 1GiB, or unlimited, not '${text}'`)
})

export function formatBytesExactly(bytes: number): string {
  const unit = ['TiB', 'GiB', 'MiB', 'KiB'].find((name) => bytes > 0 && bytes % (byteUnits[name] ?? 1) === 0)
  return unit === undefined ? `${bytes}` : `${bytes / (byteUnits[unit] ?? 1)}${unit}`
}

/** Formats with the largest unit that gives a whole number: `90s`, `1h`. */
export function formatDuration(durationMs: number): string {
  const unit = ['d', 'h', 'm', 's'].find((name) => durationMs % (unitsMs[name] ?? 1) === 0 && durationMs > 0)
  return unit === undefined ? `${durationMs}ms` : `${durationMs / (unitsMs[unit] ?? 1)}${unit}`
}

export function choice<const T extends string>(...words: readonly T[]): Kind<T> {
  return one(words.join('|'), (text) => {
    const word = words.find((candidate) => candidate === text)
    if (word === undefined) throw new ConfigurationError(`expects one of ${words.join(', ')}, not '${text}'`)
    return word
  })
}

export const onOrOff: Kind<boolean> = one('', (text) => {
  if (text !== switchedOn && text !== 'false') throw new ConfigurationError(`expects true or false, not '${text}'`)
  return text === switchedOn
})

/** A secret that the operator chooses, and that can be sent in a header. The error does not quote it. */
export const token: Kind<string> = one('TOKEN', (text) => {
  if (!/^[A-Za-z0-9._~+/=-]{16,512}$/.test(text)) {
    throw new ConfigurationError('expects 16 to 512 letters, digits and ._~+/=- (it is not shown here)')
  }
  return text
})

/** Where the server posts to. Credentials belong into a header, because URLs end up in logs. */
export const webhookUrl: Kind<string> = one('URL', (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url.href
  throw new ConfigurationError('expects an http or https URL without credentials in it')
})

/** A region as clients write it in a signature's scope. */
export const region: Kind<string> = one('REGION', (text) => {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(text)) {
    throw new ConfigurationError(`expects up to 64 letters, digits and hyphens, not '${text}'`)
  }
  return text
})

const labelPattern = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/** DNS names, converted to lower case, without port. */
export const domains: Kind<string[]> = many('NAME', (text) => {
  const name = text.toLowerCase()
  if (name.length > 253 || !name.split('.').every((label) => labelPattern.test(label))) {
    throw new ConfigurationError(`expects a domain name such as s3.example.com, not '${text}'`)
  }
  return name
})

/** IP addresses, and ranges of them. */
export const addressRanges: Kind<string[]> = many('ADDRESS|CIDR', (text) => {
  if (readAddressRange(text) !== undefined) return text
  throw new ConfigurationError(`expects an IP address or a range such as 10.0.0.0/8 or fd00::/8, not '${text}'`)
})

const severalUrls = many('URL', parseEndpoint)

/** URLs under which clients reach this server. */
export const endpointUrls: Kind<string[]> = {
  ...severalUrls,
  parse: (texts, directory) => {
    if (texts.length <= limits.publicEndpointsMax) return severalUrls.parse(texts, directory)
    throw new ConfigurationError(`expects at most ${limits.publicEndpointsMax} URLs, not ${texts.length}`)
  },
}

/** Reads an origin, and refuses a path: signatures cover the path, so the client must sign the one that the server gets. */
function parseEndpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href) return url.origin
  throw new ConfigurationError(
    `expects a URL such as https://s3.example.com, with a port if it is unusual and without a path, not '${text}'`,
  )
}

/** Origins as browsers send them, or patterns with a star. */
export const origins: Kind<string[]> = {
  placeholder: 'ORIGIN[,...]',
  repeatable: true,
  parse: (texts) => texts.flatMap((text) => text.split(',')).map((text) => parseOrigin(text.trim().toLowerCase())),
}

const originPattern = /^(?:\*|null|[a-z*][a-z0-9+.*-]*:\/\/[^\s/?#,]+)$/

function parseOrigin(text: string): string {
  if (originPattern.test(text) && text.indexOf('*') === text.lastIndexOf('*')) return text
  throw new ConfigurationError(
    `expects * or an origin such as https://app.example.com, with at most one * and without a path, not '${text}'`,
  )
}

/** The name of a location. Which ones there are is checked when the file has been read. */
export const locationName: Kind<string> = one('LOCATION', (text) => text)

/** Names of encryption keys. */
export const keyNames: Kind<string[]> = many('NAME', (text) => {
  if (isKeyName(text) && text !== storeKeyName) return text
  throw new ConfigurationError(`expects up to 64 letters, digits, / _ or -, and not ${storeKeyName}, not '${text}'`)
})
