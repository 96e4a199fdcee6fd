/** The AWS CLI speaks to S3 Control of an account: what that blocks for all its buckets, and the tags of a bucket. */
import { expect, it } from 'vitest'
import { describeClient } from './client-tools.ts'

describeClient('aws s3control', ['aws', '--version'], (at) => {
  /** It puts the account before the Host. No resolver has to know that name where the server itself is the proxy. */
  const s3control = (operation: string, ...words: string[]): string[] => [
    ...[`HTTP_PROXY=${at.endpoint}`, `http_proxy=${at.endpoint}`],
    ...['aws', 's3control', operation, '--output', 'json', '--account-id', 'main'],
    ...['--endpoint-url', at.endpoint.replace('127.0.0.1', 'localhost'), ...words],
  ]

  it('blocks what is public, shows it, and takes it back', async () => {
    const get = s3control('get-public-access-block')
    expect(await at.failing('env', ...get)).toContain('(NoSuchPublicAccessBlockConfiguration)')
    const block = ['--public-access-block-configuration', 'BlockPublicPolicy=true']
    await at.client('env', ...s3control('put-public-access-block', ...block))
    expect(JSON.parse(await at.client('env', ...get))).toEqual({
      PublicAccessBlockConfiguration: {
        ...{ BlockPublicAcls: false, IgnorePublicAcls: false },
        ...{ BlockPublicPolicy: true, RestrictPublicBuckets: false },
      },
    })
    await at.client('env', ...s3control('delete-public-access-block'))
    expect(await at.failing('env', ...get)).toContain('(NoSuchPublicAccessBlockConfiguration)')
  })

  it('tags a bucket by its ARN, lists its tags, and removes them', async () => {
    const bucket = ['--resource-arn', 'arn:aws:s3:::control']
    const list = async (): Promise<unknown> =>
      JSON.parse(await at.client('env', ...s3control('list-tags-for-resource', ...bucket)))
    await at.client('aws', 's3api', 'create-bucket', '--bucket', 'control', '--endpoint-url', at.endpoint)
    expect(await list()).toEqual({ Tags: [] })
    await at.client('env', ...s3control('tag-resource', ...bucket, '--tags', 'Key=a,Value=1', 'Key=b,Value=2'))
    expect(await list()).toEqual({
      Tags: [
        { Key: 'a', Value: '1' },
        { Key: 'b', Value: '2' },
      ],
    })
    await at.client('env', ...s3control('untag-resource', ...bucket, '--tag-keys', 'a', 'b'))
    expect(await list()).toEqual({ Tags: [] })
  })
})
