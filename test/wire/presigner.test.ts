/** Presigned URLs made by the AWS presigner. */
import { GetObjectCommand, PutObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { followUrl, openWire, type Wire, wireBucket } from '../support/wire-client.ts'
import { openSdk } from '../support/wire-sdk.ts'
import { startWireServer, type WireServer } from '../support/wire-server.ts'
import { beginUpload } from '../support/wire-uploads.ts'

const text = 'by a link'

describe.each(['path', 'virtual-host'] as const)('the AWS presigner in %s style', (hosting) => {
  let server: WireServer
  let wire: Wire
  let client: ReturnType<typeof openSdk>
  beforeAll(async () => {
    server = await startWireServer()
    wire = openWire(server.port, { prefix: 'x-amz-', hosting })
    client = openSdk(server.port, hosting)
    await wire.must({ method: 'PUT' })
  })
  afterAll(async () => {
    client.destroy()
    wire.close()
    await server.close()
  })

  const input = { Bucket: wireBucket, Key: 'ü/a b+c' }

  /** What a URL is for: any HTTP client. Names under localhost are not resolved everywhere, so the host goes into the header. */
  const fetched = (url: string, method: string, body?: string) => followUrl(url, method, server.port, body)

  it('writes by one URL and reads by another', async () => {
    const put = await fetched(await getSignedUrl(client, new PutObjectCommand(input)), 'PUT', text)
    expect(put.status).toBe(200)
    const got = await fetched(await getSignedUrl(client, new GetObjectCommand(input), { expiresIn: 60 }), 'GET')
    expect([got.status, got.body.toString()]).toEqual([200, text])
  })

  it('sends a part by a URL', async () => {
    const UploadId = await beginUpload(wire, {}, input.Key)
    const url = await getSignedUrl(client, new UploadPartCommand({ ...input, UploadId, PartNumber: 1 }))
    expect((await fetched(url, 'PUT', text)).status).toBe(200)
  })

  it('refuses a URL for another method than it was made for', async () => {
    const url = await getSignedUrl(client, new GetObjectCommand(input))
    const reply = await fetched(url, 'PUT', 'changed')
    expect([reply.status, reply.body.toString()]).toEqual([403, expect.stringContaining('SignatureDoesNotMatch')])
  })

  it('refuses a URL that was changed', async () => {
    const url = await getSignedUrl(client, new GetObjectCommand(input))
    const reply = await fetched(url.replace('X-Amz-Expires=900', 'X-Amz-Expires=9000'), 'GET')
    expect([reply.status, reply.body.toString()]).toEqual([403, expect.stringContaining('SignatureDoesNotMatch')])
  })
})
