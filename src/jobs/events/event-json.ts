/** The JSON that a webhook gets of an event: S3's, with the two fields that MinIO puts before it. Pure. */
import type { EventRecord, ObjectEvent, TestEvent } from '../../records/notifications.ts'

/** `region`: the region that this server says it is in. */
export function eventJson(event: EventRecord, region: string): string {
  return JSON.stringify(event.kind === 'test' ? testMessage(event) : objectMessage(event, region))
}

function testMessage({ timeMs, bucket, requestId }: TestEvent): object {
  return {
    Service: 'Amazon S3',
    Event: 's3:TestEvent',
    Time: timeText(timeMs),
    Bucket: bucket,
    RequestId: requestId,
  }
}

function objectMessage(event: ObjectEvent, region: string): object {
  const { name, timeMs, ruleId, bucket, bucketOwner, key, versionId, size, etag, storageClass, stamp, sender } = event
  return {
    EventName: `s3:${name}`,
    Key: `${bucket}/${key}`,
    Records: [
      {
        eventVersion: /^Object(Created|Removed):/.test(name) ? '2.1' : '2.3',
        eventSource: 'aws:s3',
        awsRegion: region,
        eventTime: timeText(timeMs),
        eventName: name,
        userIdentity: { principalId: sender?.principalId ?? 's3.amazonaws.com' },
        requestParameters: { sourceIPAddress: sender?.sourceIp ?? 's3.amazonaws.com' },
        responseElements: { 'x-amz-request-id': sender?.requestId ?? '' },
        s3: {
          s3SchemaVersion: '1.0',
          configurationId: ruleId,
          bucket: { name: bucket, ownerIdentity: { principalId: bucketOwner }, arn: `arn:aws:s3:::${bucket}` },
          object: { key: formEncoded(key), size, eTag: etag, versionId, sequencer: sequencerOf(stamp) },
        },
        ...(storageClass && { lifecycleEventData: { transitionEventData: { destinationStorageClass: storageClass } } }),
      },
    ],
  }
}

const timeText = (timeMs: number): string => new Date(timeMs).toISOString()

/** As in a form, where a space is a `+`, but with slashes as they are. */
const formEncoded = (key: string): string => new URLSearchParams({ '': key }).toString().slice(1).replaceAll('%2F', '/')

const sequencerOf = (stamp: number): string => stamp.toString(16).toUpperCase().padStart(16, '0')
