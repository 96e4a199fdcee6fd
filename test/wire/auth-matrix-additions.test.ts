/** A URL of every operation, with one thing more than was signed: each parameter and each vendor header that any operation reads. None is ever taken. */
import { describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/table.ts'
import type { SignedRequest } from '../support/signer.ts'
import { inTurn } from '../support/turns.ts'
import { type Ask, exchange, type Style, signAsk, styleName } from '../support/wire-client.ts'
import { matrixAsk, matrixServer, preparedWire, withHeader } from '../support/wire-matrix.ts'

/** Every parameter of every operation, with a value that an operation asks for where it asks for one. */
const allParameters = [
  ...new Set(
    operations.flatMap(({ query, input }) => [
      ...query.map((text) => (text.includes('=') ? text : `${text}=x`)),
      ...Object.values(input).flatMap(({ in: place, name }) => (place === 'query' ? [`${name}=1`] : [])),
    ]),
  ),
]
const allVendorNames = [
  ...new Set(
    operations.flatMap(({ vendorHeaders, input }) => [
      ...vendorHeaders,
      ...Object.values(input).flatMap(({ in: place, name }) =>
        place === 'vendor' ? [name] : place === 'vendor-prefix' ? [`${name}added`] : [],
      ),
    ]),
  ),
]

/**
 * A URL with one thing more than was signed, of all that means anything to an operation. In `npm test`, an operation meets each addition in one of the ways, and all that is
 * possible in one way alone.
 */
function additions(signed: SignedRequest, presigned: Ask['presigned'], style: Style, shift: number): SignedRequest[] {
  const { prefix } = style
  const inQuery = (added: string): SignedRequest => ({ ...signed, target: `${signed.target}&${added}` })
  const inHeaders = (by: string): SignedRequest[] => allVendorNames.map((name) => withHeader(signed, by + name, 'x'))
  const all = inTurn([...allParameters.map(inQuery), ...inHeaders(prefix)], waysStyles, style, shift)
  // Version 4 signs the whole query. Version 2 has to look for what stands for a header in it, and knows one dialect.
  if (presigned !== 'by version 2') return [...all]
  return [...all, ...inHeaders('x-store-'), ...allVendorNames.map((name) => inQuery(`${prefix}${name}=x`))]
}
const atOnce = 32

/** Each dialect by version 4, and version 2 where Host names the bucket, which that does not sign. */
const ways: readonly (readonly [Style, Ask['presigned']])[] = [
  [{ prefix: 'x-amz-', hosting: 'path' }, true],
  [{ prefix: 'x-store-', hosting: 'path' }, true],
  [{ prefix: 'x-amz-', hosting: 'virtual-host' }, 'by version 2'],
]

const waysStyles = ways.map(([style]) => style)

const matrix = matrixServer()

describe.each(ways.map(([style, presigned]) => [styleName(style), style, presigned] as const))(
  '%s',
  (_, style, presigned) => {
    const prepared = preparedWire(matrix, style)

    // A form has no signature of its own in its URL.
    const names = operations.filter(({ authentication }) => authentication !== 'form').map(({ name }) => name)
    it.each(names)('%s takes nothing that was added to its URL', async (name) => {
      const { server, agent } = matrix()
      const { open, state } = prepared()
      const signed = signAsk({ ...matrixAsk(name, open), presigned }, server.port, style)
      const all = additions(signed, presigned, style, names.indexOf(name))
      const taken: string[] = []
      for (let i = 0; i < all.length; i += atOnce) {
        const answered = all.slice(i, i + atOnce).map(async (added) => {
          const { status } = await exchange(agent, server.port, added)
          if (status !== 403) taken.push(`${status} to ${added.target} ${added.headers.join(' ')}`)
        })
        await Promise.all(answered)
      }
      expect(taken).toEqual([])
      expect(await state.changes()).toEqual([])
    })
  },
)
