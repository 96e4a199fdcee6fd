import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { errorTable } from '../../src/errors.ts'
import { findLongFunctions } from './function-lengths.ts'
import { findForbiddenBenchImports, findForbiddenImports, findImportCycles, findUnimported } from './rooms.ts'
import {
  findBadNames,
  findBrokenRules,
  findErrorMismatches,
  findHeadless,
  findLongFiles,
  rules,
  sourceRules,
} from './rules.ts'
import { readSources } from './source-file.ts'

const root = (name: string): string => fileURLToPath(new URL(`../../${name}/`, import.meta.url))
const sources = readSources(root('src'))
const tests = readSources(root('test'))
const bench = readSources(root('bench'))
const scripts = readSources(root('scripts'), '.mjs')
const pages = [...readSources(root('console/src')), ...readSources(root('console/src'), '.tsx')]

/** What scripts load of the compiled code, as source paths. */
const loadedByScripts = scripts.flatMap(({ text }) =>
  [...text.matchAll(/\bdist\/src\/([\w/-]+)\.js/g)].map(([, path]) => `${path}.ts`),
)

describe('the house rules', () => {
  it('are held against the whole source', () => {
    expect(sources.length).toBeGreaterThan(100)
    expect(sources.flatMap((file) => file.imports).length).toBeGreaterThan(400)
  })

  it.each([
    ['every import is one that its room may make', findForbiddenImports(sources)],
    ['the bench measures from outside', findForbiddenBenchImports(bench)],
    ['no import leads back to where it came from', [sources, bench, pages].flatMap(findImportCycles)],
    ['every source file is used', findUnimported(sources, loadedByScripts)],
    ['sources keep the rules of the language', findBrokenRules(sources, [...rules, ...sourceRules])],
    ['tests keep the rules of the language', findBrokenRules(tests, rules)],
    ['the bench keeps the rules of the language', findBrokenRules(bench, rules)],
    ['the console keeps the rules of the language', findBrokenRules(pages, rules)],
    ['every source file says first what it owns', findHeadless([...sources, ...bench, ...pages])],
    ['no source file is too long to read in one sitting', findLongFiles([...sources, ...bench, ...scripts, ...pages])],
    ['no function is longer than a screen', findLongFunctions([...sources, ...bench, ...scripts, ...pages])],
    ['names of files say something', findBadNames([...sources, ...tests, ...bench, ...scripts, ...pages])],
    ['errors and the error table agree', findErrorMismatches(sources, Object.keys(errorTable))],
  ])('%s', (_, findings) => {
    expect(findings).toEqual([])
  })
})
