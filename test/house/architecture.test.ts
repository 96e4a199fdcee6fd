import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { allowedBy, marked, roomsOf, tablesOfKeys, tableUnder } from './architecture.ts'
import { leaves, rooms } from './rooms.ts'
import { readSources } from './source-file.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = readFileSync(`${root}ARCHITECTURE.md`, 'utf8')
const sources = readSources(`${root}src`)
const described = tableUnder(page, '## Rooms')
const imports = tableUnder(page, '## Who may import whom')
const library = ['index.cts', 'index.ts']

/** For example `jobs/events`. */
const innerRooms = [...new Set(sources.flatMap(({ path }) => /^[\w-]+\/[\w-]+(?=\/)/.exec(path) ?? []))]

describe('ARCHITECTURE.md', () => {
  it('describes every room, and no other', () => {
    const names = described.flatMap(([first = '']) => roomsOf(first))
    expect(names.sort()).toEqual([...rooms.flatMap(({ holds }) => holds), ...library].sort())
  })

  it('describes every leaf, and no other', () => {
    const row = described.find(([first]) => first === 'leaves')
    expect(marked(row?.[1] ?? '').sort()).toEqual(leaves.toSorted())
  })

  it.each(innerRooms)('names %s in the row of its room', (path) => {
    const [room, inner] = path.split('/')
    const row = described.find(([first]) => first === `\`${room}/\``)
    expect(row?.[1]).toContain(`\`${inner}/\``)
  })

  it.each(rooms.map(({ holds, mayImport }) => [holds[0] ?? '', mayImport] as const))(
    'says what %s may import, as the import table does',
    (room, mayImport) => {
      const row = imports.find(([first = '']) => roomsOf(first).includes(room))
      expect(allowedBy(row?.[1] ?? '')).toEqual(mayImport.toSorted())
    },
  )

  it('lists every table of the keyspace, as the comment beside the keys does', () => {
    const keyspace = sources.find(({ path }) => path === 'records/keyspace.ts')
    const made = new Set(sources.flatMap(({ code }) => tablesOfKeys(code)))
    const listed = new Set(tableUnder(page, '## The keyspace').flatMap(([key = '']) => marked(key)[0] ?? []))
    const commented = new Set([...(keyspace?.text ?? '').matchAll(/^ \* {5}(\w) /gm)].map(([, table]) => table))
    expect([...listed].sort()).toEqual([...made].sort())
    expect([...commented].sort()).toEqual([...made].sort())
  })
})
