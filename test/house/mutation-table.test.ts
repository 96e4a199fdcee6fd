/** The table of mutations against the source as it is: who changes a line that a mutation breaks keeps the mutation. To run them takes `npm run trust -- mutations`. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkout, mutatedText } from '../trust/mutations/mutated-tree.ts'
import { mutations } from '../trust/mutations/table.ts'

describe('the table of mutations', () => {
  it('names each once, in all rooms where data can be lost', () => {
    const names = mutations.map(({ name }) => name)
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
    const rooms = new Set(mutations.map(({ file }) => file.split('/')[0]))
    for (const room of [
      'access',
      'auth',
      'cli',
      'config',
      'encryption',
      'http',
      'instance',
      'jobs',
      'kv',
      'stores',
      'blobs',
      'rules',
      'commits',
      'objects',
    ])
      expect([...rooms]).toContain(room)
  })

  const named = mutations.map((mutation) => [`${mutation.file}: ${mutation.name}`, mutation] as const)
  it.each(named)('finds its line, and its suite: %s', (_, mutation) => {
    const text = readFileSync(join(checkout, 'src', mutation.file), 'utf8')
    expect(mutatedText(text, mutation)).not.toBe(text)
    const suite = join(checkout, 'test', mutation.suite)
    expect(existsSync(suite), mutation.suite).toBe(true)
  })
})
