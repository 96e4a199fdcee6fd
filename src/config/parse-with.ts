/** Checks a part of the configuration against its schema. Messages name the key and the problem, but never the value, which may be a secret. */
import type { z } from 'zod'
import { ConfigurationError } from './configuration-error.ts'
import { didYouMean } from './suggestion.ts'

/** `where` names the source in messages. `known`: the valid keys, for suggestions. */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown, where: string, known: readonly string[]): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const { issues } = result.error
  // A mistyped key comes first, because it often explains why another is missing.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
  const at = issue?.path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${String(step)}`),
    where,
  )
  if (issue?.code === 'unrecognized_keys') {
    const unknown = issue.keys[0] ?? ''
    throw new ConfigurationError(`${at}: unknown key '${unknown}'${didYouMean(unknown, known)}`)
  }
  throw new ConfigurationError(`${at}: ${issue === undefined ? 'is not valid' : problemOf(issue)}`)
}

type Issue = z.core.$ZodIssue

const expectations: Readonly<Record<string, string>> = {
  string: 'a text in quotes',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'a table',
  record: 'a table',
}

/** In the words of the other messages, where the schema has none of its own. */
function problemOf(issue: Issue): string {
  if (issue.code === 'invalid_type') {
    if (issue.message.endsWith('received undefined')) return 'is missing'
    const expected = expectations[issue.expected]
    return expected === undefined ? issue.message : `expects ${expected}`
  }
  if (issue.code === 'invalid_union' && 'options' in issue && issue.options !== undefined) return oneOf(issue.options)
  if (issue.code === 'invalid_value') return oneOf(issue.values)
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message
  return issue.message
}

const oneOf = (values: readonly unknown[]): string => `expects one of ${values.map(String).join(', ')}`
