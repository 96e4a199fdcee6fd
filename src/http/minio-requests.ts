/** Requests for what only MinIO has: its admin API and its listening for events. They are refused by name, because S3 would take them for something else. */
import { notImplemented } from '../errors.ts'
import { headerValue, type RequestHead } from './request-head.ts'

/** Sub-resources of buckets that S3 does not have. Without this, a request for the metrics of a replication lists the bucket. */
const subResources = new Set([
  'minio-inventory',
  'qos',
  'qos-metrics',
  'replication-check',
  'replication-metrics',
  'replication-reset',
  'replication-reset-cancel',
  'replication-reset-status',
])

/**
 * Throws NotImplemented before the signature is verified: `mc admin` signs for no region, and minio-go does not order events as it signs them, so that the
 * answer would be about keys. Nothing else is refused: what MinIO's clients do not sign in a header is S3's.
 */
export function refuseMinioRequest(head: RequestHead): void {
  const { rawPath, rawQuery } = head
  const ofAdmin = rawPath.startsWith('/minio/admin/')
  if (!(ofAdmin || rawQuery !== '')) return
  const authorization = headerValue(head, 'authorization')
  if (authorization === undefined) return
  if (ofAdmin && authorization.includes('//s3/aws4_request')) throw notImplemented("MinIO's admin API")
  if (rawQuery === '' || !addressesBucket.test(rawPath)) return
  for (const parameter of rawQuery.split('&')) {
    const [name = '', value = ''] = parameter.split('=')
    if (subResources.has(name)) throw notImplemented(`MinIO's sub-resource ${name}`)
    if (name === 'events' && ofEvents.test(value)) throw notImplemented("MinIO's way to listen for events")
  }
}

/** With a bucket in the Host it also holds for objects whose keys have no slash, which is no loss: nobody signs such a parameter for them. */
const addressesBucket = /^\/[^/]*\/?$/

const ofEvents = /^s3(?::|%3A)/i
