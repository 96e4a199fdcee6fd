/** ARCHITECTURE.md as tests read it: its tables of rooms, imports and keys. */
import { blobsInterface, kvInterface, leaves, storesInterface } from './rooms.ts'

/** The rows of the table under a heading, as cells. */
export function tableUnder(page: string, heading: string): string[][] {
  const section = page.slice(page.indexOf(`\n${heading}\n`) + heading.length).split('\n## ')[0] ?? ''
  const rows = section.split('\n').filter((line) => line.startsWith('| '))
  return rows.slice(2).map((row) => row.slice(2, -2).split(' | '))
}

/** What a cell has in backticks. */
export const marked = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)

/** A room is a folder, named with its slash or without. */
const asPath = (name: string): string => (name.endsWith('/') || /\.c?ts$/.test(name) ? name : `${name}/`)

/** The rooms that the first cell of a row is about, as the table of the house writes them. */
export const roomsOf = (cell: string): string[] => (cell === 'leaves' ? [...leaves] : marked(cell).map(asPath))

const interfaces = new Map([
  ['kv', kvInterface],
  ['blobs', blobsInterface],
  ['stores', storesInterface],
])

/** What a row of the import table allows, sorted. */
export function allowedBy(cell: string): string[] {
  if (cell === 'each other') return []
  if (cell === 'anything') return ['']
  const allowed = cell.split('; ').flatMap((clause) => {
    if (clause === 'leaves') return leaves
    if (clause.startsWith('the interface')) return marked(clause).flatMap((name) => interfaces.get(name) ?? name)
    return marked(clause).map(asPath)
  })
  return allowed.sort()
}

/** The tables of the metadata that keys are made for. */
export const tablesOfKeys = (code: string): string[] =>
  [...code.matchAll(/\b(?:packKey|rangeOf|packTail|rangeStartingWith)\(\[?'(\w)'/g)].map(([, table = '']) => table)
