/** Rules that each source file keeps by itself, and that the error table keeps with all of them. */
import { basename } from 'node:path'
import type { SourceFile } from './source-file.ts'

const fileLinesMax = 350

interface Rule {
  /** What to look for in the code without comments and literals, or in the whole text. */
  pattern: RegExp
  in: 'bare' | 'text'
  says: string
  /** Files that may. */
  except?: readonly string[]
}

// Spelled so that this file keeps its own rules.
const leftovers = new RegExp(`\\b(?:${['FIX' + 'ME', 'TO' + 'DO', 'HA' + 'CK', 'X' + 'XX'].join('|')})\\b`)
const tsDirective = new RegExp(`@ts-(?:${['ignore', 'expect-error', 'nocheck'].join('|')})`)

export const rules: readonly Rule[] = [
  { in: 'text', pattern: leftovers, says: 'work left over: do it, or write an issue' },
  { in: 'text', pattern: tsDirective, says: 'a type error is hidden' },
  { in: 'bare', pattern: /(?:[:<|&,]\s*|\bas\s+)any\b/, says: '`any` switches the compiler off' },
  { in: 'bare', pattern: /\bas\s+unknown\s+as\b/, says: 'a cast through `unknown` hides a wrong type' },
  { in: 'bare', pattern: /\bexport\s+default\b/, says: 'a default export has no name of its own' },
  { in: 'bare', pattern: /[\w)\]]!(?:[.;,)\]]|\s*$)/m, says: 'a non-null `!` asserts what the compiler could check' },
  { in: 'bare', pattern: /\benum\s+\w|\bnamespace\s+\w/, says: 'syntax that is more than types' },
]

/** Rules of src/ alone: tests may ask the machine. */
export const sourceRules: readonly Rule[] = [
  {
    in: 'bare',
    pattern: /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandom(?:Bytes|UUID|FillSync)\(/,
    says: 'time and randomness come from the clock',
    // Names of unfinished files, a secret that no test may choose, and the date of an answer outside of HTTP.
    except: ['clock.ts', 'instance/atomic-file.ts', 'auth/credentials.ts', 'http/connections/refuse.ts'],
  },
  {
    in: 'bare',
    pattern: /\bconsole\./,
    says: 'what is printed goes through the log or the command line',
    except: ['cli/'],
  },
]

export function findBrokenRules(files: readonly SourceFile[], checked: readonly Rule[]): string[] {
  return files.flatMap((file) =>
    checked.flatMap(({ pattern, in: where, says, except = [] }) => {
      if (except.some((place) => file.path === place || (place.endsWith('/') && file.path.startsWith(place)))) return []
      const match = pattern.exec(file[where])
      if (match === null) return []
      const line = file.text.slice(0, match.index).split('\n').length
      return [`${file.path}:${line}: ${says}`]
    }),
  )
}

/** Every file says in one sentence what it owns. A file with one operation says it in the operation's summary. */
export function findHeadless(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ text, bare, path }) => {
      const start = text.replace(/^#!.*\n/, '')
      if (/^\/\*\*\s*(?:\*\s*)?[A-Z"'`*0-9][^@]*?[.:]\s/.test(start)) return false
      const operations = bare.match(/\bdefineOperation\(\{/g)?.length ?? 0
      return !(path.startsWith('operations/') && operations === 1)
    })
    .map(({ path }) => `${path} does not start with a sentence that says what it owns`)
}

export function findLongFiles(files: readonly SourceFile[], linesMax = fileLinesMax): string[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n').length
    return lines > linesMax ? [`${path} has ${lines} lines, of ${linesMax}`] : []
  })
}

const meaningless = /^(?:utils?|helpers?|common|managers?|base|misc|shared|stuff)$|-(?:utils?|helpers?|managers?)$/

/** Names that say nothing, and names that are not kebab-case. */
export function findBadNames(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path }) => {
    const parts = path.split('/').map((part) => basename(part).replace(/(?:\.test|\.config)?\.\w+$/, ''))
    if (parts.some((part) => meaningless.test(part))) return [`${path} has a name that says nothing`]
    return parts.every((part) => /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(part)) ? [] : [`${path} is not kebab-case`]
  })
}

/** Codes that are answered and not in the table, and codes in the table that nothing answers. What an operation declares is no answer. */
export function findErrorMismatches(files: readonly SourceFile[], table: readonly string[]): string[] {
  const thrown = new Set<string>()
  const mentioned = new Set<string>()
  for (const { path, code } of files) {
    for (const [, name = ''] of code.matchAll(/\bnew S3Error\(\s*'([\w.]+)'/g)) thrown.add(name)
    if (path === 'errors.ts') continue
    const answers = code.replace(/\berrors: \[[^\]]*\]/g, '')
    for (const [, name = ''] of answers.matchAll(/'([\w.]+)'/g)) mentioned.add(name)
  }
  return [
    ...[...thrown]
      .filter((name) => !table.includes(name))
      .map((name) => `${name} is thrown and not in the error table`),
    ...table
      .filter((name) => !thrown.has(name) && !mentioned.has(name))
      .map((name) => `${name} is in the error table and nothing answers it`),
  ]
}
