/** The region that a server says it is, where buckets have none of their own. */
import { describe, expect, it } from 'vitest'
import { styleName, styles } from '../support/wire-client.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'

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

    it.each([
      ['of-the-server', 'home-north-1', ''],
      ['of-a-location', 'home-north-1', 'default'],
      ['of-a-region', 'eu-west-1', 'eu-west-1'],
      ['of-us-east-1', 'us-east-1', 'us-east-1'],
    ])('HeadBucket, ListBuckets and its filter agree on the bucket %s: %s', async (bucket, region, constraint) => {
      const head = await wire.must({ method: 'HEAD', bucket })
      expect(head.headers.get(`${row.style.prefix}bucket-region`)).toBe(region)

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
