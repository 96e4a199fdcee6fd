/** Closes the wire tests: an operation in the table without one fails here, and so does a test of what is no operation. Refused ones are in every-refused-row. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { operations } from '../../src/operations/table.ts'
import { styles } from '../support/wire-client.ts'

const folder = new URL('./', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))

const textOf = (name: string): string => readFileSync(new URL(name, folder), 'utf8')

/** `wireTests` fails when a row is not taken for the operation that it names, so that a name here stands for rows that ran. */
const tested = new Set(
  files.flatMap((name) => [...textOf(name).matchAll(/^wireTests\(\s*'(\w+)'/gm)].map(([, operation]) => operation)),
)
const names = (some: typeof operations): string[] => some.map(({ name }) => name).sort()

it('tests every implemented operation by rows', () => {
  const untested = operations.filter(({ name, implemented }) => implemented && !tested.has(name))
  expect(names(untested)).toEqual([])
})

it('tests nothing that is no operation', () => {
  const known = new Set(names(operations))
  expect([...tested].filter((name) => name !== undefined && !known.has(name))).toEqual([])
})

it('keeps rows in files of their own, so that they can be read without running other tests', () => {
  const mixed = files.filter(
    (name) => /^\s*wireTests\(/m.test(textOf(name)) && /^(?:describe|it)\b/m.test(textOf(name)),
  )
  expect(mixed).toEqual([])
})

it('runs rows in both dialects, each in path and in virtual-host style', () => {
  expect(styles.map(({ prefix, hosting }) => `${prefix} ${hosting}`).sort()).toEqual([
    'x-amz- path',
    'x-amz- virtual-host',
    'x-store- path',
    'x-store- virtual-host',
  ])
})
