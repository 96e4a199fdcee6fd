/** The region that a server says it is, where buckets have none of their own. */
import { describe, expect, it } from 'vitest'
import { styleName, styles } from '../support/wire-client.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'
import { otherKey } from '../support/wire-server.ts'

const server = wireServer({ region: 'home-north-1' })

describe.each(styles.map((style) => ({ name: styleName(style), style })))(
  'with $name, a server of home-north-1',
  (row) => {
    const wire = wireTo(server, row.style, async (wire) => {
      await server.empty()
      await wire.must({ method: 'PUT', bucket: 'of-the-server' })
      for (const [bucket, location] of [
        ['of-a-location', 'default'],
        ['of-a-region', 'eu-west-1'],
        ['of-us-east-1', 'us-east-1'],
      ] as const) {
        const body = `<CreateBucketConfiguration><LocationConstraint>${location}</LocationConstraint></CreateBucketConfiguration>`
        await wire.must({ method: 'PUT', bucket, body })
      }
    })

    // Also where the bucket has another region, or is missing: the header must not tell a stranger which buckets there are.
    it.each(['of-the-server', 'of-a-region', 'missing'])(
      "names the server's region to an unsigned request for %s",
      async (bucket) => {
        for (const [method, query] of [
          ['HEAD', {}],
          ['GET', {}],
          ['GET', { 'list-type': '2' }],
        ] as const) {
          const reply = await wire.ask({ method, query, bucket, unsigned: true })
          expect(reply.status).toBe(403)
          expect(reply.headers.get(`${row.style.prefix}bucket-region`)).toBe('home-north-1')
        }
        const other = await wire.ask({ method: 'GET', bucket, query: { versions: '' }, unsigned: true })
        expect([other.status, other.headers.has(`${row.style.prefix}bucket-region`)]).toEqual([403, false])
      },
    )

    it.each([
      ['of-the-server', 'home-north-1', ''],
      ['of-a-location', 'home-north-1', 'default'],
      ['of-a-region', 'eu-west-1', 'eu-west-1'],
      ['of-us-east-1', 'us-east-1', 'us-east-1'],
    ])('HeadBucket, ListBuckets and its filter agree on the bucket %s: %s', async (bucket, region, constraint) => {
      const head = await wire.must({ method: 'HEAD', bucket })
      expect(head.headers.get(`${row.style.prefix}bucket-region`)).toBe(region)
      const refusedHead = await wire.ask({ method: 'HEAD', bucket, signedBy: otherKey })
      expect(refusedHead.status).toBe(403)
      expect(refusedHead.headers.get(`${row.style.prefix}bucket-region`)).toBe(region)

      const entry = new RegExp(`<Name>${bucket}</Name><CreationDate>[^<]*</CreationDate><BucketRegion>${region}<`)
      const list = async (query: Record<string, string>): Promise<string> =>
        (await wire.must({ method: 'GET', bucket: '', query })).body.toString()
      expect(await list({})).toMatch(entry)
      expect(await list({ 'bucket-region': region })).toMatch(entry)
      expect(await list({ 'bucket-region': 'ap-south-1' })).not.toContain(bucket)

      // What the bucket was made with, as it was given.
      const location = await wire.must({ method: 'GET', bucket, query: { location: '' } })
      expect(
        location.body
          .toString()
          .replace(/<[^>]*>/g, '')
          .trim(),
      ).toBe(constraint)
    })
  },
)
