/** Every row of the support table that is refused, asked of a server in a request that is otherwise valid: it is answered by its error, which names it, and nothing changes. */
import { afterAll, describe, expect, it } from 'vitest'
import { errorTable } from '../../src/errors.ts'
import { operationRows, type TableRow, tableRows } from '../support/table-rows.ts'
import { asks, type KeptAsks, keepAsks, nothingChanged, type OpenUpload } from '../support/wire-asks.ts'
import { type Ask, type Style, styleName, styles } from '../support/wire-client.ts'
import { withElement } from '../support/wire-elements.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'
import { readXml } from '../support/wire-xml.ts'

const refusedOperations = operationRows.filter(({ here }) => here === 'refused')
const refusedRows = tableRows.filter(({ here }) => here === 'refused')
/** Work for some values only. */
const partialRows = tableRows.filter(({ only }) => only !== undefined)

/** A value that does not work where others do. */
const badValues: Readonly<Record<string, string>> = {
  acl: 'public-read',
  'grant-full-control': 'id=main',
  'grant-read': 'id=main',
  'grant-read-acp': 'id=main',
  'grant-write': 'id=main',
  'grant-write-acp': 'id=main',
  'optional-object-attributes': 'Colour',
  'website-redirect-location': 'nowhere',
  'storage-class': 'COLDEST',
  'server-side-encryption': 'ROT13',
  'bucket-namespace': 'account-regional',
  'VersioningConfiguration/MfaDelete': 'Enabled',
  'ReplicationConfiguration/Rule/Destination/ReplicationTime/Status': 'Enabled',
  'ReplicationConfiguration/Rule/SourceSelectionCriteria/ReplicaModifications/Status': 'Enabled',
}

function valueFor({ name, only, id, container }: TableRow): string {
  if (only === undefined) return container ? '' : 'x'
  const value = badValues[name]
  if (value === undefined) throw new Error(`no value is known that ${id} refuses`)
  return value
}

function requestOf(row: TableRow, open: OpenUpload): Ask {
  const ask = asks(open)[row.operation]
  if (ask === undefined) throw new Error(`no request of ${row.operation}`)
  const value = valueFor(row)
  if (row.in === 'element') return withElement(ask, row.name, value)
  // A canned list and grants exclude each other.
  const { acl: _, ...withoutList } = ask.vendor ?? {}
  if (row.in === 'vendor') return { ...ask, vendor: { ...withoutList, [row.name]: value } }
  const place = row.in === 'query' ? 'query' : 'headers'
  return { ...ask, [place]: { ...ask[place], [row.name]: value } }
}

/** What the message or an element of the error calls it. */
function spelled({ in: place, name }: TableRow, { prefix }: Style): string {
  return place === 'vendor' ? prefix + name : name
}

const server = wireServer()

describe.each(styles.map((style) => [styleName(style), style] as const))(
  `%s: ${refusedOperations.length} operations, ${refusedRows.length} rows refused, ${partialRows.length} for some values`,
  (_, style) => {
    let kept: KeptAsks
    const wire = wireTo(server, style, async (wire) => {
      kept = await keepAsks(server, wire)
    })
    afterAll(() => nothingChanged(wire, kept.open))

    it.each(refusedOperations.map((row) => [row.name, row] as const))('%s', async (name, row) => {
      const ask: Ask = {
        method: row.method,
        query: Object.fromEntries(row.query.map((text) => [...text.split('='), ''] as [string, string])),
        vendor: Object.fromEntries(row.vendorHeaders.map((header) => [header, 'x'])),
        ...(row.target === 'object' ? { key: 'a' } : {}),
        ...(row.target === 'service' ? { bucket: '' } : {}),
        ...(row.method === 'PUT' || row.method === 'POST' ? { body: '<Anything/>' } : {}),
      }
      const reply = await wire.ask(ask)
      const { operation, code } = await server.logged(reply.headers.get(`${style.prefix}request-id`) ?? '')
      expect({ status: reply.status, operation, code }).toEqual({ status: 501, operation: name, code: row.refusal })
      const said = readXml(reply.body)
      expect(said.value).toMatchObject({ Code: 'NotImplemented', NotImplemented: name })
      expect(await kept.state.changes()).toEqual([])
    })

    it.each([...refusedRows, ...partialRows].map((row) => [row.id, row] as const))('%s', async (_, row) => {
      const { refusal = 'NotImplemented' } = row
      const reply = await wire.ask(requestOf(row, kept.open))
      const { operation, code } = await server.logged(reply.headers.get(`${style.prefix}request-id`) ?? '')
      expect(operation).toBe(row.operation)
      if (reply.status === 200 && row.operation === 'DeleteObjects') {
        expectRefusedInside(reply.body, row)
      } else {
        expect({ status: reply.status, code }).toEqual({ status: errorTable[refusal].status, code: refusal })
        if (refusal === 'NotImplemented' && reply.body.length > 0) expectNamed(reply.body, row, style)
      }
      expect(await kept.state.changes()).toEqual([])
    })
  },
)

/** What is refused within a container names the container. */
function expectNamed(body: Buffer, row: TableRow, style: Style): void {
  const { NotImplemented: what, Message: message } = readXml(body).value as Record<string, string>
  const name = spelled(row, style)
  expect(name === what || name.startsWith(`${what}/`), `${what} names ${name}`).toBe(true)
  expect(message).toContain(what)
}

/** Of several objects each is answered for itself. */
function expectRefusedInside(body: Buffer, { name, refusal }: TableRow): void {
  const { value } = readXml(body) as { value: { Error?: { Key: string; Code: string; Message: string } } }
  expect(value.Error).toMatchObject({ Key: 'a', Code: refusal })
  expect(value.Error?.Message).toContain(name.split('/').at(-1))
}
