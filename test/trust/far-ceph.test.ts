/** A store in a bucket of a real Ceph cluster, which reads HTTP and S3 in ways of its own. */
import { afterAll, beforeAll } from 'vitest'
import { credentials, type FarSide, farSideAt, remoteUnderTest } from '../stores/s3/far-side.ts'
import { describeOwnedRemoteBatches } from '../stores/s3/owned-batches-suite.ts'
import { describeRemoteStore } from '../stores/s3/remote-suite.ts'
import { describeShardStore } from '../stores/suite.ts'
import { CephCluster, cephProbes } from '../support/ceph.ts'
import { describeInstalled } from '../support/installed.ts'

describeInstalled('Ceph', cephProbes, () => {
  let ceph: CephCluster
  let buckets = 0
  beforeAll(async () => {
    ceph = await CephCluster.start(credentials)
  })
  afterAll(() => ceph?.remove())

  const quota = async (...words: string[]): Promise<void> => {
    await ceph.administer('quota', ...words, '--uid', 'tests', '--quota-scope', 'bucket')
  }
  const openSide = async (): Promise<FarSide> => {
    const side = farSideAt(ceph.endpoint, `bucket-${buckets++}`)
    await side.makeBucket(side.address.bucket)
    return {
      ...side,
      fill: async () => {
        await quota('set', '--max-size', '1')
        await quota('enable')
      },
      empty: () => quota('disable'),
      close: async () => side.client.destroy(),
    }
  }

  describeShardStore('a bucket of Ceph', () => remoteUnderTest(openSide))
  describeRemoteStore('a bucket of Ceph', openSide)
  describeOwnedRemoteBatches('a bucket of Ceph', openSide)
})
