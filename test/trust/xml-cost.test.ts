/**
 * What the worst documents within the bounds cost the event loop before they are refused. Each is made to cost as much as it can: it is as large as its
 * operation takes, and wrong as late as its shape allows. CPU time is measured, and compared with what MD5 takes here, so that neither the machine nor what else it does matters much.
 */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Shape } from '../../src/contract/shapes.ts'
import { compileXmlReader } from '../../src/http/xml/xml-read.ts'
import { operations } from '../../src/operations/table.ts'

/**
 * An MD5 of a mebibyte takes about a millisecond of today's processors, so `npm run trust` allows 50 ms of them. A busy machine is told nothing by so little:
 * elsewhere the bound is one that only a cost which grows with the square of a document's length exceeds, which is thousands.
 */
const md5sMax = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1') > 1 ? 50 : 500
const rounds = 5

const isList = ({ kind }: Shape): boolean => kind === 'list'

/** Names from the root of a document to the first element of which `found` holds; `undefined` where there is none. */
function pathTo(root: string, shape: Shape, found: (shape: Shape) => boolean): string[] | undefined {
  if (found(shape)) return [root]
  if (shape.kind === 'optional') return pathTo(root, shape.of, found)
  if (shape.kind === 'list') return pathTo(root, shape.item, found)
  if (shape.kind !== 'struct') return undefined
  for (const [name, field] of Object.entries(shape.fields)) {
    const rest = pathTo(name, field, found)
    if (rest !== undefined) return [root, ...rest]
  }
  return undefined
}

const opened = (path: readonly string[]): string => path.map((name) => `<${name}>`).join('')

/** An element that a reader takes, as short as it can be. */
function shortest(name: string, shape: Shape, attributes = ''): string {
  if (shape.kind === 'optional' || shape.kind === 'refused') return ''
  if (shape.kind === 'list') return shortest(name, shape.item, attributes)
  if (shape.kind === 'text') return `<${name}${attributes}>${shape.print === String ? '1' : ''}</${name}>`
  if (shape.kind !== 'struct') return ''
  const inside = Object.entries(shape.fields).map(([field, of]) => (of.kind === 'list' ? '' : shortest(field, of)))
  return `<${name}${attributes}>${inside.join('')}</${name}>`
}

function itemOf(path: readonly string[], shape: Shape): Shape | undefined {
  if (shape.kind === 'list') return path.length === 1 ? shape.item : itemOf(path, shape.item)
  if (shape.kind === 'optional') return itemOf(path, shape.of)
  const next = path[1]
  return shape.kind === 'struct' && next !== undefined && shape.fields[next] !== undefined
    ? itemOf(path.slice(1), shape.fields[next])
    : undefined
}

function worst({ root, shape, bytesMax }: { root: string; shape: Shape; bytesMax: number }): [string, string][] {
  const text = opened(pathTo(root, shape, ({ kind }) => kind === 'text') ?? [root])
  const toList = pathTo(root, shape, isList)
  const list = opened(toList?.slice(0, -1) ?? [root])
  const item = (attributes: string): string => {
    const of = toList && itemOf(toList, shape)
    return of === undefined ? '<A/>' : shortest(toList?.at(-1) ?? '', of, attributes)
  }
  const filled = (start: string, unit: string | ((i: number) => string)): string => {
    if (typeof unit === 'string') {
      const room = bytesMax - 1 - start.length
      return `${start}${unit.repeat(Math.floor(room / Buffer.byteLength(unit)))}<`
    }
    const parts = [start]
    let bytes = start.length
    for (let i = 0; ; i++) {
      const next = unit(i)
      bytes += Buffer.byteLength(next)
      if (bytes > bytesMax - 1) return `${parts.join('')}<`
      parts.push(next)
    }
  }
  return [
    ['attributes of one element', filled(`<${root}`, (i) => ` a${i.toString(36)}=""`)],
    ['namespaces of one element', filled(`<${root}`, (i) => ` xmlns:a${i.toString(36)}="urn:a"`)],
    ['references in an attribute', filled(`<${root} a="`, '&lt;')],
    ['line ends in an attribute', filled(`<${root} a="`, '\n')],
    ['a long attribute', filled(`<${root} a="`, 'x')],
    ['a long name', filled(`<${root}`, 'a')],
    ['comments', filled(list, '<!---->')],
    ['CDATA sections', filled(list, '<![CDATA[]]>')],
    ['white space', filled(list, ' ')],
    ['line ends', filled(list, '\r\n')],
    ['elements', filled(list, item(''))],
    ['elements with attributes', filled(list, item(' a="" b="" c="" d=""'))],
    ['text', filled(text, 'x')],
    ['text of wide characters', filled(text, '\u{1f98a}')],
    ['brackets', filled(text, ']')],
    ['named references', filled(text, '&apos;')],
    ['short references', filled(text, '&lt;')],
    ['numeric references', filled(text, '&#9;')],
    ['references to control characters beside raw ones', filled(`${text}&#1;`, '\u0085')],
    ['a reference that does not end', filled(`${text}&#`, '0')],
    ['depth', filled('', `<${root}>`)],
  ]
}

/** Those that hold a list; of any other, a document that costs much is no document of its shape. Each shape once. */
const documents = new Map(
  operations.flatMap(({ name, inputBody }) =>
    inputBody.kind === 'xml' && pathTo(inputBody.root, inputBody.shape, isList) !== undefined
      ? [[inputBody.shape, { name, ...inputBody }] as const]
      : [],
  ),
)

/** The least of some rounds, in milliseconds of this process. One that takes no longer than `enoughMs` is the last. */
function cpuMs(work: () => void, enoughMs = 0): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds && least > enoughMs; round++) {
    const before = process.cpuUsage().user
    work()
    least = Math.min(least, (process.cpuUsage().user - before) / 1000)
  }
  return least
}

const mebibyte = Buffer.alloc(1024 * 1024, 'x')
const hashed = 20
/** Measured beside what it is compared with: the speed of a processor that others share changes by the second. */
const measureMd5Ms = (): number =>
  cpuMs(() => {
    for (let i = 0; i < hashed; i++) createHash('md5').update(mebibyte).digest()
  }) / hashed

it.each([...documents.values()].map((document) => [document.name, document] as const))(
  `no document for %s costs more than ${md5sMax} times an MD5 of a mebibyte before it is refused`,
  (_, declared) => {
    const read = compileXmlReader(declared.root, declared.shape)
    const md5Ms = measureMd5Ms()
    const costs = worst(declared).map(([what, document]) => {
      const bytes = Buffer.from(document)
      expect(bytes.length).toBeLessThanOrEqual(declared.bytesMax)
      const refuse = (): void => {
        expect(() => read(bytes)).toThrow(expect.objectContaining({ code: 'MalformedXML' }))
      }
      return { what, md5s: cpuMs(refuse, (md5sMax * md5Ms) / 2) / md5Ms }
    })
    costs.sort((a, b) => b.md5s - a.md5s)
    process.stdout.write(
      `${declared.name}: ${costs.map(({ what, md5s }) => `${what} ${md5s.toFixed(1)}`).join(', ')}\n`,
    )
    expect(costs.filter(({ md5s }) => md5s > md5sMax)).toEqual([])
  },
)
