/** Every setting of a bucket, changed in a browser and read by another client of S3; and a bucket that moves to another location. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  GetBucketCorsCommand,
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketReplicationCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetBucketWebsiteCommand,
  GetObjectCommand,
  GetObjectLockConfigurationCommand,
  GetPublicAccessBlockCommand,
  type LifecycleRule,
  PutBucketLifecycleConfigurationCommand,
  PutBucketNotificationConfigurationCommand,
  PutBucketReplicationCommand,
  PutBucketVersioningCommand,
  type QueueConfiguration,
  type ReplicationRule,
} from '@aws-sdk/client-s3'
import type { Locator } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInstalled } from '../support/installed.ts'
import { type ConsoleVisit, visitConsole } from './console-visit.ts'

async function startOnTwoLocations(visit: ConsoleVisit): Promise<void> {
  const config = join(visit.folder, 'holdfast.toml')
  const store = '[stores.disk1]\ntype = "directory"\npath = "disk1"\n'
  const webhook = '[webhooks.primary]\nurl = "http://127.0.0.1:9/hook"\n'
  await writeFile(
    config,
    `data = "data"\n${webhook}${store}[locations.other]\nscheme = "replica"\ncopies = 1\nstores = ["disk1"]\n`,
  )
  await visit.startServer(['--config', config])
}

describeInstalled('a setting of a bucket', [['chromium', '--version']], () => {
  const visit = visitConsole(startOnTwoLocations)
  const { put, complaints } = visit

  async function panelOf(bucket: string, title: string): Promise<Locator> {
    await visit.openBucket(bucket, 'settings')
    return visit.page.getByRole('region', { name: title, exact: true })
  }
  const save = async (panel: Locator, action = 'Save', says = 'Saved.'): Promise<void> => {
    const notices = visit.page.getByRole('log')
    // The notice of an earlier save would answer for this one.
    await notices.getByRole('button').evaluateAll((buttons: { click(): void }[]) => {
      for (const dismiss of buttons) dismiss.click()
    })
    await notices.getByText(says).waitFor({ state: 'detached' })
    await panel.getByRole('button', { name: action, exact: true }).click()
    await notices.getByText(says).waitFor()
  }

  it('versions: turned on, suspended', async () => {
    await visit.createBucket('versions')
    const panel = await panelOf('versions', 'Versions')
    const status = async () => (await visit.s3.send(new GetBucketVersioningCommand({ Bucket: 'versions' }))).Status
    await panel.getByRole('button', { name: 'Turn on' }).click()
    await panel.getByRole('button', { name: 'Suspend' }).waitFor()
    expect(await status()).toBe('Enabled')
    await panel.getByRole('button', { name: 'Suspend' }).click()
    await panel.getByText('Suspended:').waitFor()
    expect(await status()).toBe('Suspended')
  })

  it('object lock: turned on, with a retention of new versions', async () => {
    await visit.createBucket('locks')
    const versions = await panelOf('locks', 'Versions')
    await versions.getByRole('button', { name: 'Turn on' }).click()
    // Opening the next panel loads the page again, which would cut off a request that was not answered yet.
    await versions.getByRole('button', { name: 'Suspend' }).waitFor()
    const panel = await panelOf('locks', 'Object lock')
    await save(panel, 'Turn on for good')
    await panel.getByLabel('Retain new versions').check()
    await panel.getByLabel('For', { exact: true }).fill('7')
    await save(panel)
    const lock = async () =>
      (await visit.s3.send(new GetObjectLockConfigurationCommand({ Bucket: 'locks' }))).ObjectLockConfiguration?.Rule
    expect(await lock()).toEqual({ DefaultRetention: { Mode: 'GOVERNANCE', Days: 7 } })
  })

  it('quota: set, used, removed', async () => {
    const Bucket = 'quota'
    await visit.createBucket(Bucket)
    const panel = await panelOf(Bucket, 'Quota')
    await panel.getByText('None.').waitFor()
    await panel.getByLabel('At most, in GiB').fill('0.5')
    await panel.getByLabel('At most, in objects').fill('1')
    await save(panel)
    await panel.getByText('0 B of 512 MiB, 0 of 1 objects').waitFor()
    await put(Bucket, 'fits', 'hello')
    await expect(put(Bucket, 'late', 'hello')).rejects.toThrow('1 of 1 objects')
    await (await panelOf(Bucket, 'Quota')).getByText('5 B of 512 MiB, 1 of 1 objects').waitFor()
    expect(await panel.getByLabel('At most, in GiB').inputValue()).toBe('0.5')
    await visit.open('buckets', 'Buckets')
    await visit.page.getByRole('row', { name: Bucket }).getByText('1 of 1').waitFor()
    await panelOf(Bucket, 'Quota')
    await save(panel, 'Remove', 'Removed.')
    await panel.getByText('None.').waitFor()
    await put(Bucket, 'late', 'hello')
  })

  it('encryption, public access, origins, lifecycle, website and tags', async () => {
    const Bucket = 'settings'
    await visit.createBucket(Bucket)
    await save(await panelOf(Bucket, 'Encryption'))
    const encryption = await visit.s3.send(new GetBucketEncryptionCommand({ Bucket }))
    const [rule] = encryption.ServerSideEncryptionConfiguration?.Rules ?? []
    expect(rule?.ApplyServerSideEncryptionByDefault?.SSEAlgorithm).toBe('AES256')

    const access = await panelOf(Bucket, 'Public access')
    await access.getByLabel('Refuse new policies').check()
    await save(access)
    const { PublicAccessBlockConfiguration } = await visit.s3.send(new GetPublicAccessBlockCommand({ Bucket }))
    expect(PublicAccessBlockConfiguration?.BlockPublicPolicy).toBe(true)

    const cors = await panelOf(Bucket, 'Other origins (CORS)')
    await cors.getByRole('button', { name: 'Add a rule' }).click()
    await cors.getByLabel('Origins').fill('https://shop.example https://www.example')
    await save(cors)
    const { CORSRules } = await visit.s3.send(new GetBucketCorsCommand({ Bucket }))
    expect(CORSRules?.[0]?.AllowedOrigins).toEqual(['https://shop.example', 'https://www.example'])
    const origin = 'https://shop.example'
    const answer = await fetch(`${visit.ready.endpoint}/${Bucket}/none`, { headers: { origin } })
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)

    const rules = async () => {
      const { Rules } = await visit.s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket }))
      return Rules
    }
    // With conditions that the page does not edit.
    const elsewhere: LifecycleRule = {
      ID: 'elsewhere',
      Status: 'Disabled',
      Filter: { And: { Prefix: 'a', Tags: [{ Key: 'b', Value: '<c>' }], ObjectSizeLessThan: 9 } },
      Expiration: { Days: 1 },
    }
    await visit.s3.send(
      new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules: [elsewhere] } }),
    )
    const lifecycle = await panelOf(Bucket, 'Lifecycle')
    await lifecycle.getByRole('button', { name: 'Add a rule' }).click()
    await lifecycle.getByLabel('Name').fill('logs')
    await lifecycle.getByLabel('Only keys that begin with').fill('logs/')
    await lifecycle.getByLabel('Days after which an object is removed').fill('30')
    await lifecycle.getByLabel('Newest replaced versions to keep').fill('3')
    await save(lifecycle)
    expect(await rules()).toEqual([
      elsewhere,
      {
        ID: 'logs',
        Status: 'Enabled',
        Filter: { Prefix: 'logs/' },
        Expiration: { Days: 30 },
        NoncurrentVersionExpiration: { NewerNoncurrentVersions: 3 },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
      },
    ])
    await lifecycle.getByRole('button', { name: 'Remove rule 2' }).click()
    await lifecycle.getByRole('button', { name: 'Remove rule 1' }).click()
    await save(lifecycle)
    await expect(rules()).rejects.toThrow('lifecycle')

    const website = await panelOf(Bucket, 'Website')
    await website.getByLabel('Error document').fill('404.html')
    await save(website)
    const site = await visit.s3.send(new GetBucketWebsiteCommand({ Bucket }))
    expect([site.IndexDocument?.Suffix, site.ErrorDocument?.Key]).toEqual(['index.html', '404.html'])
    await save(website, 'Remove', 'Removed.')
    await expect(visit.s3.send(new GetBucketWebsiteCommand({ Bucket }))).rejects.toThrow('website')

    const tags = await panelOf(Bucket, 'Tags')
    await tags.getByRole('button', { name: 'Add' }).click()
    await tags.getByLabel('Name 1').fill('team')
    await tags.getByLabel('Value 1').fill('red')
    await save(tags)
    const { TagSet } = await visit.s3.send(new GetBucketTaggingCommand({ Bucket }))
    expect(TagSet).toEqual([{ Key: 'team', Value: 'red' }])
    expect(complaints).toEqual([])
  })

  it('notifications: added beside what was set elsewhere, changed and removed', async () => {
    const Bucket = 'notifications'
    await visit.createBucket(Bucket)
    const queues = async () =>
      (await visit.s3.send(new GetBucketNotificationConfigurationCommand({ Bucket }))).QueueConfigurations
    // An event that the page does not edit, and two other forms of ARN.
    const elsewhere: QueueConfiguration = {
      Id: 'elsewhere',
      QueueArn: 'arn:aws:sqs:eu-west-1:123456789012:primary',
      Events: ['s3:ObjectCreated:Put'],
      Filter: { Key: { FilterRules: [{ Name: 'prefix', Value: 'a&<b>/' }] } },
    }
    const ofMinio: QueueConfiguration = {
      Id: 'minio',
      QueueArn: 'arn:minio:sqs:eu-west-1:primary:webhook',
      Events: ['s3:ObjectTagging:*'],
    }
    const ofAws: QueueConfiguration = {
      Id: 'aws',
      QueueArn: 'arn:aws:sqs:eu-west-1:123456789012:primary',
      Events: ['s3:LifecycleExpiration:*'],
    }
    const NotificationConfiguration = { QueueConfigurations: [elsewhere, ofMinio, ofAws] }
    await visit.s3.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }))

    const panel = await panelOf(Bucket, 'Notifications')
    await panel.getByText('stays as it is.').waitFor()
    const minio = panel.getByRole('group', { name: 'Rule 2' })
    expect(await minio.getByLabel('Webhook').inputValue()).toBe('primary')
    await minio.getByLabel('Access control lists changed').check()
    await panel.getByRole('button', { name: 'Add a rule' }).click()
    const added = panel.getByRole('group', { name: 'Rule 4' })
    await added.getByLabel('Name').fill('logs')
    await added.getByLabel('Webhook').fill('primary')
    await added.getByLabel('Objects removed').uncheck()
    await added.getByLabel('Only keys that begin with').fill('logs/')
    await added.getByLabel('Only keys that end with').fill('.gz')
    await save(panel)
    const FilterRules = [
      { Name: 'prefix', Value: 'logs/' },
      { Name: 'suffix', Value: '.gz' },
    ]
    expect(await queues()).toEqual([
      elsewhere,
      { ...ofMinio, Events: ['s3:ObjectTagging:*', 's3:ObjectAcl:Put'] },
      ofAws,
      {
        Id: 'logs',
        QueueArn: 'arn:aws:sqs:::primary',
        Events: ['s3:ObjectCreated:*'],
        Filter: { Key: { FilterRules } },
      },
    ])

    await panel.getByRole('group', { name: 'Rule 3' }).getByLabel('Webhook').fill('unknown')
    await panel.getByRole('button', { name: 'Save', exact: true }).click()
    await panel.getByText('Unable to validate the following destination configurations').waitFor()
    expect(await queues()).toHaveLength(4)

    for (const number of [4, 3, 2, 1]) await panel.getByRole('button', { name: `Remove rule ${number}` }).click()
    await panel.getByText('No rules.').waitFor()
    await save(panel)
    expect(await queues()).toBeUndefined()
    expect(complaints).toEqual([])
  })

  it('replication: added beside what was set elsewhere, changed and removed', async () => {
    const Bucket = 'originals'
    for (const name of [Bucket, 'copies']) {
      await visit.createBucket(name)
      const VersioningConfiguration = { Status: 'Enabled' } as const
      await visit.s3.send(new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration }))
    }
    const rules = async () =>
      (await visit.s3.send(new GetBucketReplicationCommand({ Bucket }))).ReplicationConfiguration?.Rules
    const elsewhere: ReplicationRule = {
      ID: 'elsewhere',
      Priority: 7,
      Status: 'Disabled',
      Filter: { And: { Prefix: 'a&<b>/', Tags: [{ Key: 'a', Value: 'b' }] } },
      DeleteMarkerReplication: { Status: 'Disabled' },
      Destination: { Bucket: 'arn:aws:s3:::copies', StorageClass: 'GLACIER' },
    }
    const ReplicationConfiguration = { Role: 'arn:of:somebody', Rules: [elsewhere] }
    await visit.s3.send(new PutBucketReplicationCommand({ Bucket, ReplicationConfiguration }))
    await put(Bucket, 'note.txt', 'which is copied')

    const panel = await panelOf(Bucket, 'Replication')
    await panel.getByText('stays as it is.').waitFor()
    await panel.getByRole('button', { name: 'Add a rule' }).click()
    const added = panel.getByRole('group', { name: 'Rule 2' })
    await added.getByLabel('Name').fill('everything')
    await added.getByLabel('Copy to').fill('nowhere')
    await added.getByLabel('Copy delete markers').uncheck()
    await panel.getByRole('button', { name: 'Save', exact: true }).click()
    await panel.getByText('Destination bucket must exist.').waitFor()
    await added.getByLabel('Copy to').fill('copies')
    await save(panel)
    expect(await rules()).toEqual([
      elsewhere,
      {
        ID: 'everything',
        Priority: 8,
        Status: 'Enabled',
        Filter: { Prefix: '' },
        ExistingObjectReplication: { Status: 'Enabled' },
        DeleteMarkerReplication: { Status: 'Disabled' },
        Destination: { Bucket: 'arn:aws:s3:::copies' },
      },
    ])
    await expect
      .poll(() => visit.s3.send(new GetObjectCommand({ Bucket: 'copies', Key: 'note.txt' })).catch(() => undefined))
      .toMatchObject({ ReplicationStatus: 'REPLICA' })
    await panel.getByRole('button', { name: 'Look again' }).click()
    await panel.getByText('copies: nothing waits.', { exact: true }).waitFor()
    await visit.s3.send(
      new PutBucketVersioningCommand({ Bucket: 'copies', VersioningConfiguration: { Status: 'Suspended' } }),
    )
    await put(Bucket, 'late.txt', 'which waits')
    await panel.getByRole('button', { name: 'Look again' }).click()
    await panel
      .getByText(/copies: 1 version waits, .* It takes no copies: Destination bucket must have versioning/)
      .waitFor()

    for (const number of [2, 1]) await panel.getByRole('button', { name: `Remove rule ${number}` }).click()
    await panel.getByText('No rules.').waitFor()
    await save(panel)
    await expect(rules()).rejects.toThrow('replication')
    expect(complaints).toEqual([])
  })

  it('location: moves, and every byte with it', async () => {
    await visit.createBucket('moving')
    await put('moving', 'note.txt', 'which moves')
    const panel = await panelOf('moving', 'Location')
    await panel.getByText('Its data lies in default.').waitFor()
    await save(panel, 'Move')
    await visit.open('machine/tasks', 'Machine room')
    const move = visit.page.getByRole('row').filter({ hasText: 'move' }).filter({ hasText: 'moving' })
    await move.getByText('done', { exact: true }).waitFor()
    await (await panelOf('moving', 'Location')).getByText('Its data lies in other.').waitFor()
    const { Body } = await visit.s3.send(new GetObjectCommand({ Bucket: 'moving', Key: 'note.txt' }))
    expect(await Body?.transformToString()).toBe('which moves')
  })
})
