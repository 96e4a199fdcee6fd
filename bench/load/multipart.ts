/** Uploads in eight parts, one upload at a time: each part on a connection of its own. Signed on the way, as upload ids are made by the server. */
import { randomBytes } from 'node:crypto'
import { summary } from './closed-loop.ts'
import { type Answer, Connection } from './connection.ts'
import type { Load, Order } from './order.ts'
import { keyOf, type PreparedRequest, requestLine, runSet } from './requests.ts'
import { createSigner } from './sign.ts'

const partsOfAnUpload = 8
const payloadHash = 'UNSIGNED-PAYLOAD'

export async function uploadInParts(order: Order): Promise<Load> {
  const { endpoint, workload, seconds } = order
  const part = randomBytes(workload.objectBytes)
  const connections = await Promise.all(
    Array.from({ length: partsOfAnUpload }, () => Connection.open(endpoint.host, endpoint.port)),
  )
  const latencies: number[] = []
  const cpuBefore = process.cpuUsage()
  const beganMs = performance.now()
  try {
    for (let nowMs = beganMs; nowMs < beganMs + seconds * 1000; nowMs = performance.now()) {
      await uploadOne(order, connections, part, keyOf(runSet(workload, order.run), latencies.length))
      latencies.push(performance.now() - nowMs)
    }
  } finally {
    for (const connection of connections) connection.close()
  }
  const cpu = process.cpuUsage(cpuBefore)
  return summary(latencies, performance.now() - beganMs, cpu.user + cpu.system)
}

async function uploadOne(
  { endpoint }: Order,
  connections: readonly Connection[],
  part: Buffer,
  key: string,
): Promise<void> {
  const [first] = connections
  if (first === undefined) throw new RangeError('an upload needs a connection')
  const sign = createSigner(endpoint)
  const path = `/${endpoint.bucket}/${key}`
  const request = (method: string, query: string, body: Buffer): PreparedRequest => ({
    head: sign({ method, path, query, payloadHash, bodyBytes: body.length }),
    body,
    isHead: false,
  })
  const created = await succeed(first, request('POST', 'uploads=', Buffer.alloc(0)))
  const uploadId = encodeURIComponent(/<UploadId>(.*?)<\/UploadId>/.exec(created.text)?.[1] ?? '')
  const tags = await Promise.all(
    connections.map(async (connection, index) => {
      const answer = await succeed(connection, request('PUT', `partNumber=${index + 1}&uploadId=${uploadId}`, part))
      return /\r\netag: *(\S+)/i.exec(answer.text)?.[1] ?? ''
    }),
  )
  const parts = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`)
  const list = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
  const completed = await succeed(first, request('POST', `uploadId=${uploadId}`, list))
  // A failure after the answer began is told in its body.
  if (!completed.text.includes('CompleteMultipartUploadResult')) throw new Error(`not completed: ${completed.text}`)
}

async function succeed(connection: Connection, request: PreparedRequest): Promise<Answer> {
  const answer = await connection.ask(request)
  if (answer.status >= 300) throw new Error(`${requestLine(request)} was answered ${answer.status}: ${answer.text}`)
  return answer
}
