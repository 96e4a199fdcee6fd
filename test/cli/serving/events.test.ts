/** Events of a running command: none of an acknowledged change is lost, whoever is killed. */
import { writeFile } from 'node:fs/promises'
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  PutBucketNotificationConfigurationCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { type EventReceiver, openEventReceiver } from '../../support/event-receiver.ts'
import { keyVariables, run, serve } from '../holdfast-process.ts'
import { openWorkplace } from '../workplace.ts'

const Bucket = 'photos'
const place = openWorkplace('events')

const local = (...words: string[]): string[] => [
  'serve',
  '--data',
  place.path('data'),
  '--listen',
  '127.0.0.1:0',
  ...words,
]

async function configFor({ url }: Pick<EventReceiver, 'url'>): Promise<string> {
  const file = place.path('holdfast.toml')
  await writeFile(file, `[webhooks.primary]\nurl = "${url}"\ntoken = "canary-token-of-tests"\n`)
  return file
}

async function tell(s3: S3Client, QueueArn: string): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket }))
  const QueueConfigurations = [{ QueueArn, Events: ['s3:ObjectCreated:*' as const, 's3:ObjectRemoved:*' as const] }]
  const SkipDestinationValidation = true
  const NotificationConfiguration = { QueueConfigurations }
  await s3.send(
    new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration, SkipDestinationValidation }),
  )
}

const keysOf = ({ taken }: EventReceiver): string[] => taken.map(({ message }) => `${message.EventName} ${message.Key}`)

describe('events', () => {
  it.each(['1', '2', '3'])(
    'of what was acknowledged before kill -9 are told after the next start, workers: %s',
    async (workers) => {
      await using receiver = await openEventReceiver()
      receiver.answer = () => 503
      const words = local('--workers', workers, '--config', await configFor(receiver))
      const killed = await serve(words)
      const s3 = place.clientOf(killed.ready.endpoint)
      await tell(s3, 'arn:aws:sqs:us-east-1:123456789012:primary')
      const keys = Array.from({ length: 40 }, (_, i) => `${i}`)
      const told = new Set<string>()
      await Promise.all(
        keys.map(async (Key, i) => {
          await s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }))
          told.add(`s3:ObjectCreated:Put ${Bucket}/${Key}`)
          if (i % 2 === 1) return
          await s3.send(new DeleteObjectCommand({ Bucket, Key }))
          told.add(`s3:ObjectRemoved:Delete ${Bucket}/${Key}`)
        }),
      )
      killed.child.kill('SIGKILL')
      await killed.ended
      receiver.answer = undefined
      const next = await serve(words)
      await receiver.until((taken) => taken.length >= told.size)
      expect(new Set(keysOf(receiver))).toEqual(told)
      next.child.kill('SIGTERM')
      const { code, stderr } = await next.ended
      expect(code).toBe(0)
      expect(killed.output.stderr + stderr).not.toContain('canary-token')
    },
  )

  it('go to the webhooks of MinIO’s variables, by MinIO’s names', async () => {
    await using receiver = await openEventReceiver()
    const { ready } = await serve(local(), {
      ...keyVariables,
      MINIO_NOTIFY_WEBHOOK_ENABLE_PRIMARY: 'on',
      MINIO_NOTIFY_WEBHOOK_ENDPOINT_PRIMARY: receiver.url,
      MINIO_NOTIFY_WEBHOOK_AUTH_TOKEN_PRIMARY: 'Bearer canary-token-of-tests',
      MINIO_NOTIFY_WEBHOOK_ENDPOINT_OFF: receiver.url,
    })
    const s3 = place.clientOf(ready.endpoint)
    await tell(s3, 'arn:minio:sqs::PRIMARY:webhook')
    await s3.send(new PutObjectCommand({ Bucket, Key: 'k', Body: '' }))
    await receiver.until((taken) => taken.length === 1)
    expect(receiver.taken[0]?.headers.authorization).toBe('Bearer canary-token-of-tests')
  })

  it('have somewhere to go where MinIO’s variables say so', async () => {
    const on = { MINIO_NOTIFY_WEBHOOK_ENABLE_A: 'true', MINIO_NOTIFY_WEBHOOK_CLIENT_CERT_A: '/c', ...keyVariables }
    const { code, stderr } = await run(local(), on).ended
    expect([code, stderr]).toEqual([2, expect.stringContaining('MINIO_NOTIFY_WEBHOOK_ENDPOINT_A: expects')])
    const warned = await serve(local(), { ...on, MINIO_NOTIFY_WEBHOOK_ENDPOINT_A: 'http://127.0.0.1:9/' })
    await warned.logged((line) => line.includes('MINIO_NOTIFY_WEBHOOK_CLIENT_CERT_A is set, but not followed'))
  })

  it('that hang do not hold up the end of a server', async () => {
    await using receiver = await openEventReceiver()
    receiver.answer = () => 'never'
    const running = await serve(local('--config', await configFor(receiver)))
    const s3 = place.clientOf(running.ready.endpoint)
    await tell(s3, 'arn:aws:sqs:::primary')
    await s3.send(new PutObjectCommand({ Bucket, Key: 'k', Body: '' }))
    await receiver.untilRefused((refused) => refused.length === 1)
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })

  it.each([
    ['an address that is none', 'url = "nowhere"', 'webhooks.a.url: expects an http or https URL'],
    [
      'a password in the address',
      'url = "http://u:canary@host/"',
      'webhooks.a.url: expects an http or https URL without credentials',
    ],
    ['a token of two words', 'url = "http://host/"\ntoken = "canary two"', 'webhooks.a.token: must be 1 to 1024'],
    ['two of a name', 'url = "http://host/"\n[webhooks.A]\nurl = "http://host/"', "the name 'a' appears twice"],
    ['no address', 'token = "canary-token-of-tests"', 'webhooks.a.url: '],
    ['a wrong key', 'uri = "http://host/"', "webhooks.a: unknown key 'uri'"],
  ])('cannot be sent to %s', async (_, table, says) => {
    const file = place.path('holdfast.toml')
    await writeFile(file, `[webhooks.a]\n${table}\n`)
    const { code, stderr } = await run(local('--config', file), keyVariables).ended
    expect(code).toBe(2)
    expect(stderr).toContain(says)
    expect(stderr).not.toContain('canary')
  })
})
