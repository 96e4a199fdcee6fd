/** Makes the bucket that work goes to. */
import { Connection } from './connection.ts'
import type { Endpoint } from './order.ts'
import { RequestMaker } from './requests.ts'

/** It may be there from a run before. */
export async function createBucket(endpoint: Endpoint): Promise<void> {
  const connection = await Connection.open(endpoint.host, endpoint.port)
  try {
    const maker = new RequestMaker(endpoint, [])
    const { status, text } = await connection.ask(maker.createBucket())
    if (status !== 200 && status !== 409) throw new Error(`CreateBucket was answered ${status}: ${text}`)
    if (!endpoint.encrypts) return
    const encryption = await connection.ask(maker.encryptByDefault())
    if (encryption.status !== 200) {
      throw new Error(`PutBucketEncryption was answered ${encryption.status}: ${encryption.text}`)
    }
  } finally {
    connection.close()
  }
}
