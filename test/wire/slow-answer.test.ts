/** Operations that take longer than clients wait: 200 and white space while they work, then the result or the error. */
import { CompleteMultipartUploadCommand } from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { md5Hex, multipartEtag } from '../support/wire-checksums.ts'
import { type Ask, openWire, styleName, styles, type Wire } from '../support/wire-client.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'
import { openSdk } from '../support/wire-sdk.ts'
import { askSlowly, Gate, startSlowServer } from '../support/wire-slow.ts'
import { completeDocument, uploadOf } from '../support/wire-uploads.ts'
import { readXml } from '../support/wire-xml.ts'

const gate = new Gate()

const server = wireServer({}, () => startSlowServer(gate))

/** In a bucket of its own, as the server goes on from test to test. */
async function prepared(wire: Wire, bucket: string): Promise<{ uploadId: string; etag: string }> {
  const inBucket: Wire = { ...wire, must: (ask) => wire.must({ bucket, ...ask }) }
  await inBucket.must({ method: 'PUT' })
  const { uploadId = '', etag1: etag = '' } = await uploadOf(inBucket, ['only'])
  return { uploadId, etag }
}

let buckets = 0
const newBucket = (): string => `slow-${++buckets}`

describe.each(styles.map((style) => [styleName(style), style] as const))('%s', (_, style) => {
  const wire = wireTo(server, style)

  const namespace = style.prefix === 'x-amz-' ? 'http://s3.amazonaws.com/doc/2006-03-01/' : undefined

  it('keeps the client of a slow Complete patient, then gives the result', async () => {
    const bucket = newBucket()
    const { uploadId, etag } = await prepared(wire, bucket)
    const body = completeDocument([[1, etag]])
    const reply = await askSlowly({ method: 'POST', bucket, key: 'big', query: { uploadId }, body }, wire, gate)
    expect(reply.status).toBe(200)
    expect(reply.early).toMatch(/^<\?xml [^>]*\?>\n +$/)
    expect(readXml(reply.whole)).toMatchObject({
      root: 'CompleteMultipartUploadResult',
      namespace,
      value: { Bucket: bucket, Key: 'big', ETag: multipartEtag(['only']) },
    })
    expect((await wire.must({ method: 'GET', bucket, key: 'big' })).body.toString()).toBe('only')
  })

  it('gives the error of a slow Complete in the body', async () => {
    const bucket = newBucket()
    const { uploadId } = await prepared(wire, bucket)
    const body = completeDocument([[1, '"another"']])
    const reply = await askSlowly({ method: 'POST', bucket, key: 'big', query: { uploadId }, body }, wire, gate)
    expect(reply.status).toBe(200)
    expect(readXml(reply.whole)).toMatchObject({
      root: 'Error',
      namespace: undefined,
      value: { Code: 'InvalidPart', Resource: `/${bucket}/big`, RequestId: expect.stringMatching(/^\w+$/) },
    })
  })

  it('keeps the client of a slow CopyObject patient, then gives the result or the error', async () => {
    const bucket = newBucket()
    await wire.must({ method: 'PUT', bucket })
    await wire.must({ method: 'PUT', bucket, key: 'from', body: 'x' })
    const copy = (source: string): Ask => ({ method: 'PUT', bucket, key: 'to', vendor: { 'copy-source': source } })
    const reply = await askSlowly(copy(`/${bucket}/from`), wire, gate)
    expect(readXml(reply.whole)).toMatchObject({
      root: 'CopyObjectResult',
      namespace,
      value: { ETag: `"${md5Hex('x')}"` },
    })
    const failed = await askSlowly(copy(`/${bucket}/nothing`), wire, gate)
    expect(failed.status).toBe(200)
    expect(readXml(failed.whole)).toMatchObject({ root: 'Error', value: { Code: 'NoSuchKey' } })
  })
})

it('is understood by the AWS SDK: a late error rejects, although the status was 200', async () => {
  const wire = openWire(server.port, { prefix: 'x-amz-', hosting: 'path' })
  const client = openSdk(server.port, 'path')
  const bucket = newBucket()
  const { uploadId } = await prepared(wire, bucket)
  // The handler resolves with the head of the answer: the status has come while the work still waits.
  const { requestHandler } = client.config
  const handle = requestHandler.handle.bind(requestHandler)
  requestHandler.handle = async (request, options) => {
    const answered = await handle(request, options)
    gate.open()
    return answered
  }
  gate.shut()
  const call = client.send(
    new CompleteMultipartUploadCommand({
      Bucket: bucket,
      Key: 'big',
      UploadId: uploadId,
      MultipartUpload: { Parts: [{ PartNumber: 1, ETag: '"another"' }] },
    }),
  )
  await expect(call).rejects.toMatchObject({ name: 'InvalidPart' })
  client.destroy()
  wire.close()
})
