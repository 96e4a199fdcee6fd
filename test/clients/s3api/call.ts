/** A call of the CLI as a row: what is asked, and what it must print. */
import { expect } from 'vitest'

export interface Call {
  /** As the CLI's own model names it. */
  operation: string
  /** When it isn't the operation's own. */
  command?: string
  /** What a user gets from it: the end of the test's name. */
  about: string
  /** After the command. An object is sent as JSON; `<name>` stands for what an earlier call kept. */
  words: readonly Word[]
  /** All that is printed, key by key. Undefined: nothing is. */
  prints?: unknown
  /** Instead of that: the code of the error it must end with. */
  fails?: string
  /** What later calls need of the answer, with the way to it: `{ id: 'Versions.0.VersionId' }`. */
  keeps?: Readonly<Record<string, string>>
  /** What the file named by the last word must then hold. */
  saves?: string
  /** Other operations that must work for this call to make sense. */
  needs?: readonly string[]
}

export interface Scenario {
  name: string
  /** In this order: a call finds what those before it left. */
  calls: readonly Call[]
}

export type Word = string | object
export type Kept = ReadonlyMap<string, string>

/** Puts what was kept where `<name>` stands, at any depth. What is not plain data, such as a matcher, stays as it is. */
export function fill(value: unknown, kept: Kept): unknown {
  if (typeof value === 'string') return fillText(value, kept)
  if (Array.isArray(value)) return value.map((item) => fill(item, kept))
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, kept)]))
}

const fillText = (text: string, kept: Kept): string =>
  text.replace(/<(\w+)>/g, (_, name) => {
    const value = kept.get(name)
    if (value === undefined) throw new Error(`no call has kept <${name}>`)
    return value
  })

export function fillWords(words: readonly Word[], kept: Kept): string[] {
  return words.map((word) => (typeof word === 'string' ? fillText(word, kept) : JSON.stringify(fill(word, kept))))
}

/** What stands at `way`, such as `Parts.0.ETag`. */
export function pick(answer: unknown, way: string): string {
  const found = way.split('.').reduce<unknown>((at, step) => Object(at)[step], answer)
  if (typeof found !== 'string') throw new Error(`${way} is missing in ${JSON.stringify(answer)}`)
  return found
}

/** Version 1 of the CLI prints times as they came, version 2 as ISO 8601. */
export const time = expect.stringMatching(
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$)/,
)
export const text = expect.stringMatching(/./)
/** Of versions that are not null versions. */
export const versionId = expect.stringMatching(/^(?!null$)./)

/** The account that the server of the tests knows. */
export const owner = { DisplayName: 'Main', ID: 'main' }
