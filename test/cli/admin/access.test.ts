/** `holdfast access`: a bucket that had a policy stays closed after a recovery until an operator confirms it; and what is decided is explained. */
import {
  CreateBucketCommand,
  GetBucketPolicyCommand,
  GetObjectCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Identities } from '../../../src/identities/identities.ts'
import { openIdentities } from '../../../src/identities/open-identities.ts'
import { openKeyRing } from '../../../src/instance/key-ring-file.ts'
import { openMetadata } from '../../../src/opening/open.ts'
import { runHere } from '../command-here.ts'
import { keyVariables, killLeftovers, lastEvent, type Outcome } from '../holdfast-process.ts'
import { RecoverWorld, schemes } from '../recover-world.ts'

const narrow = { accessKeyId: 'narrow-key', secretAccessKey: 'canary-secret-of-the-narrow-key' }
const other = { accessKeyId: 'other-key', secretAccessKey: 'canary-secret-of-the-other-key' }
const keyLines = ({ accessKeyId, secretAccessKey }: typeof narrow) =>
  `accessKeyId = "${accessKeyId}"\nsecretAccessKey = "${secretAccessKey}"\n`
const accounts = [
  `[[accounts]]\nid = "main"\n[[accounts.keys]]\n${keyLines(narrow)}permissions = ["s3:Get*"]\n`,
  `[[accounts]]\nid = "other"\n[[accounts.keys]]\n${keyLines(other)}`,
].join('')

const policy = JSON.stringify({
  Version: '2012-10-17',
  Statement: [
    { Sid: 'Guests', Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::photos/*' },
    {
      Sid: 'Away',
      Effect: 'Deny',
      Principal: '*',
      Action: 's3:GetObject',
      Resource: 'arn:aws:s3:::photos/*',
      Condition: { IpAddress: { 'aws:SourceIp': '203.0.113.0/24' } },
    },
    {
      Sid: 'Secret',
      Effect: 'Deny',
      Principal: '*',
      Action: 's3:GetObject',
      Resource: 'arn:aws:s3:::photos/*',
      Condition: { StringEquals: { 's3:ExistingObjectTag/level': 'secret' } },
    },
  ],
})

let world: RecoverWorld
beforeEach(async () => {
  world = await RecoverWorld.make(schemes['two copies'])
  await world.configure(world.stores + world.location + accounts)
})
afterEach(async () => {
  await killLeftovers()
  await world.dispose()
})

/** Explains in this process: it only reads, and each test asks often. */
const explanation = (...words: string[]): Promise<Outcome> =>
  runHere(['access', 'explain', ...words, '--config', world.path('holdfast.toml')], keyVariables)

async function makePhotos(s3: S3Client): Promise<void> {
  const CreateBucketConfiguration = { LocationConstraint: 'safe' as 'eu-west-1' }
  await s3.send(new CreateBucketCommand({ Bucket: 'photos', CreateBucketConfiguration }))
  await s3.send(new PutBucketPolicyCommand({ Bucket: 'photos', Policy: policy }))
  await s3.send(new PutObjectCommand({ Bucket: 'photos', Key: 'cat.jpg', Body: 'cat' }))
}

/** What each asker gets: the root key, a narrowed one, another account\u2019s, and nobody\u2019s. */
async function answers(s3: S3Client): Promise<string[]> {
  const endpoint = await s3.config.endpoint?.()
  const url = `http://${endpoint?.hostname}:${endpoint?.port}`
  const asked = { Bucket: 'photos', Key: 'cat.jpg' }
  const by = async (credentials: typeof narrow): Promise<string> => {
    const client = new S3Client({ endpoint: url, region: 'us-east-1', credentials, forcePathStyle: true })
    const answer = client.send(new GetObjectCommand(asked))
    return answer
      .then(
        () => 'ok',
        (error: Error) => error.name,
      )
      .finally(() => client.destroy())
  }
  const own = await s3.send(new GetObjectCommand(asked)).then(
    () => 'ok',
    (error: Error) => error.name,
  )
  const { status } = await fetch(`${url}/photos/cat.jpg`)
  return [own, await by(narrow), await by(other), status === 200 ? 'ok' : String(status)]
}

const everybody = ['ok', 'ok', 'ok', 'ok']
const ownerAlone = ['ok', 'AccessDenied', 'AccessDenied', '403']

describe('after a recovery', () => {
  test('a bucket whose policy a snapshot knows is closed until it is confirmed, beside a running server', async () => {
    await world.serving(async (s3) => {
      await makePhotos(s3)
      expect(await answers(s3)).toEqual(everybody)
      expect(await world.command('backup', '--on-stores')).toMatchObject({ code: 0 })
    })
    await world.loseMetadata()
    expect(await world.recovered()).toMatchObject({ unconfirmed: ['photos'] })
    await world.serving(async (s3) => {
      expect(await answers(s3)).toEqual(ownerAlone)
      expect((await s3.send(new GetBucketPolicyCommand({ Bucket: 'photos' }))).Policy).toBe(policy)
      expect((await world.command('access')).stdout).toContain('photos admits only its owner')
      const explained = lastEvent(
        await world.command('access', 'explain', 'anonymous', 's3:GetObject', 'photos/cat.jpg', '--json'),
      )
      expect(explained).toMatchObject({ allowed: false, reason: expect.stringContaining('holdfast access confirm') })

      const confirmed = await world.command('access', 'confirm', 'photos')
      expect(confirmed).toMatchObject({ code: 0, stderr: '' })
      expect(confirmed.stdout).toContain('"Sid":"Guests"')
      expect(await answers(s3)).toEqual(everybody)
      expect((await world.command('access')).stdout).toBe('every bucket is confirmed\n')
    })
  })

  test('a bucket of whose policy only its shards tell is closed, and its owner can give it another', async () => {
    await world.serving(makePhotos)
    await world.loseMetadata()
    expect(await world.recovered()).toMatchObject({ unconfirmed: ['photos'], bucketsFromShards: 1 })
    await world.serving(async (s3) => {
      expect(await answers(s3)).toEqual(ownerAlone)
      await s3.send(new PutBucketPolicyCommand({ Bucket: 'photos', Policy: policy }))
      expect(await answers(s3)).toEqual(ownerAlone)
    })
    const confirmed = lastEvent(await world.command('access', 'confirm', 'photos', '--json'))
    expect(confirmed).toEqual({
      event: 'confirmed',
      bucket: 'photos',
      wasUnconfirmed: true,
      owner: 'main',
      policy,
      publicAccessBlock: [],
      ownership: 'BucketOwnerEnforced',
      grants: [],
    })
    expect(await world.serving(answers)).toEqual(everybody)
    const again = lastEvent(await world.command('access', 'confirm', 'photos', '--json'))
    expect(again).toMatchObject({ wasUnconfirmed: false })
  })

  test('a bucket that does not exist can\u2019t be confirmed', async () => {
    await world.serving(async () => {})
    expect(await world.command('access', 'confirm', 'photos')).toMatchObject({ code: 1, stdout: '' })
  })
})

test('a decision is explained: by the statement that made it, of the request as it is given', async () => {
  await world.serving(makePhotos)
  const explain = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await explanation(...words)
    return code === 0 ? stdout : `${code} ${stderr}`
  }
  const guests = 'allowed: Allow by statement "Guests" of the bucket policy\n'
  expect(await explain('anonymous', 's3:GetObject', 'photos/cat.jpg', '--from', '192.0.2.1')).toBe(guests)
  expect(await explain('anonymous', 'GetObject', 'arn:aws:s3:::photos/cat.jpg', '--from', '203.0.113.9')).toBe(
    'denied: Deny by statement "Away" of the bucket policy\n',
  )
  expect(await explain('other-key', 's3:GetObject', 'photos/cat.jpg')).toBe(
    `${guests}a condition asked for what was not given: aws:SourceIp\n`,
  )
  const context = ['--from', '192.0.2.1', '--context', 's3:existingobjecttag/level=secret', '--context', 's3:prefix=x']
  const secret = 'denied: Deny by statement "Secret" of the bucket policy\n'
  expect(await explain('test-access-key', 's3:GetObject', 'photos/cat.jpg', ...context)).toBe(secret)
  expect(await explain('narrow-key', 's3:PutObject', 'photos/cat.jpg')).toBe('denied: no identity policy allows it\n')
  expect(await explain('narrow-key', 's3:GetBucketPolicy', 'photos')).toBe(
    'allowed: Allow by statement #1 of the identity policy permissions\n',
  )
  expect(await explain('test-access-key', 's3:ListAllMyBuckets', '*')).toContain('allowed: the key is the account')
  expect(await explain('other-key', 's3:CreateBucket', 'new')).toContain('allowed: the key is the account')

  await world.serving(async (s3) => {
    const Tagging = { TagSet: [{ Key: 'level', Value: 'secret' }] }
    await s3.send(new PutObjectTaggingCommand({ Bucket: 'photos', Key: 'cat.jpg', Tagging }))
    expect(await explain('anonymous', 's3:GetObject', 'photos/cat.jpg', '--from', '192.0.2.1')).toBe(secret)
  })

  expect(await explain('nobody', 's3:GetObject', 'photos/cat.jpg')).toMatch(/^2 .*no access key 'nobody' is accepted/)
  expect(await explain('other-key', 's3:GetObjekt', 'photos/cat.jpg')).toMatch(/^2 .*did you mean 's3:GetObject'/)
  expect(await explain('other-key', 'HeadObject', 'photos/cat.jpg')).toMatch(/^2 .*asks for is s3:GetObject/)
  expect(await explain('other-key', 's3:GetObject', 'photos')).toMatch(/^2 .*name it as bucket\/key/)
  expect(await explain('other-key', 's3:GetObject', 'films/cat.jpg')).toMatch(/^1 /)
  expect(await explain('other-key', 's3:GetObject', 'photos/cat.jpg', '--from', 'home')).toMatch(
    /^2 .*not an IP address/,
  )
  expect(await explain('other-key', 's3:GetObject', 'photos/cat.jpg', '--context', 'aws:username=a')).toMatch(/^2 /)
})

test('a decision about keys of run time is explained, and what is not accepted is named', async () => {
  await world.serving(makePhotos)
  const document = JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Sid: 'Listing', Effect: 'Allow', Action: 's3:ListBucket', Resource: 'arn:aws:s3:::photos' }],
  })
  const made = await withIdentities(async ({ users, keys }) => {
    await users.create('main', { name: 'ann' })
    await users.putInlinePolicy('main', 'ann', { name: 'lists', document })
    const [ann, disabled] = [await keys.add({ accountId: 'main', user: 'ann' }), await keys.add({ accountId: 'main' })]
    await keys.setDisabled(disabled.accessKeyId, true)
    return { ann: ann.accessKeyId, disabled: disabled.accessKeyId }
  })
  expect(await explanation(made.ann, 's3:ListBucket', 'photos', '--json')).toMatchObject({ code: 0 })
  expect((await explanation(made.ann, 's3:ListBucket', 'photos')).stdout).toBe(
    'allowed: Allow by statement "Listing" of the identity policy lists\n',
  )
  expect((await explanation(made.ann, 's3:PutObject', 'photos/cat.jpg')).stdout).toBe(
    'denied: no identity policy allows it\n',
  )
  expect((await explanation('main/ann', 's3:ListBucket', 'photos')).stdout).toContain('"Listing"')
  const refusal = async (key: string) => {
    const { code, stderr } = await explanation(key, 's3:ListBucket', 'photos')
    return `${code} ${stderr.slice('holdfast: '.length, -1)}`
  }
  expect(await refusal('main/eve')).toBe("2 no user 'main/eve' is accepted: there is no user main/eve")
  expect(await refusal(made.disabled)).toBe(`2 no access key '${made.disabled}' is accepted: it is disabled`)
  await withIdentities(({ users }) => users.setDisabled('main', 'ann', true))
  expect(await refusal(made.ann)).toBe(`2 no access key '${made.ann}' is accepted: the user main/ann is disabled`)
  await withIdentities(async ({ users, keys }) => {
    await users.setDisabled('main', 'ann', false)
    await keys.setExpiry(made.ann, Date.now() + 1000)
  })
  await expect.poll(() => refusal(made.ann)).toMatch(/ is accepted: it expired at 20\d\d-/)
})

/** As the server makes them, while there is none. */
async function withIdentities<T>(use: (verbs: Identities) => Promise<T>): Promise<T> {
  const fail = (message: unknown): never => {
    throw new Error(String(message))
  }
  const metadata = await openMetadata({ path: world.path('data'), onFatal: fail, warn: fail })
  const { kv, clock, directory } = metadata
  const ring = await openKeyRing(kv, directory.keyRing, { keyRing: undefined, kmsKeys: [] }, { owner: false, clock })
  const accounts = [{ id: 'main', name: 'Main', keys: [] }]
  const identities = await openIdentities({ backend: { kv, clock, keys: ring }, accounts, warn: fail })
  try {
    return await use(identities.verbs)
  } finally {
    await identities.close()
    await metadata.close()
  }
}
