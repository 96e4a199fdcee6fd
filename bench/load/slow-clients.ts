/** Clients that send and read slowly, half of them each: what a server must not keep in memory. Each makes one request. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as passes } from 'node:timers/promises'
import { summary } from './closed-loop.ts'
import type { Load, Order } from './order.ts'
import { createBodies, type PreparedRequest, RequestMaker, runSet, standingSet } from './requests.ts'

const stepMs = 20
/** In which a client sends or reads its body, however fast the server is. */
const bodySeconds = 4

export async function slowClients(order: Order): Promise<Load> {
  const { endpoint, workload } = order
  const maker = new RequestMaker(endpoint, createBodies(workload.objectBytes))
  const stepBytes = Math.ceil((workload.objectBytes * stepMs) / (bodySeconds * 1000))
  const cpuBefore = process.cpuUsage()
  const beganMs = performance.now()
  const clients = Array.from({ length: workload.connections }, async (_, number) => {
    const half = number >> 1
    if (number % 2 === 0) return sendSlowly(order, maker.put(runSet(workload, order.run), half), stepBytes)
    return readSlowly(order, maker.read('GET', standingSet(workload), half % workload.objects), stepBytes)
  })
  const latencies = await Promise.all(clients)
  const cpu = process.cpuUsage(cpuBefore)
  return summary(latencies, performance.now() - beganMs, cpu.user + cpu.system)
}

async function open({ endpoint }: Order): Promise<Socket> {
  const socket = connect({ host: endpoint.host, port: endpoint.port, noDelay: true })
  await once(socket, 'connect')
  return socket
}

/** Milliseconds until the answer. */
async function sendSlowly(order: Order, { head, body }: PreparedRequest, stepBytes: number): Promise<number> {
  const beganMs = performance.now()
  const socket = await open(order)
  const answered = once(socket, 'data')
  socket.write(head)
  for (let at = 0; body !== undefined && at < body.length; at += stepBytes) {
    if (!socket.write(body.subarray(at, at + stepBytes))) await Promise.race([once(socket, 'drain'), answered])
    await passes(stepMs)
  }
  const [answer] = await answered
  socket.destroy()
  checkStatus(answer)
  return performance.now() - beganMs
}

/** Milliseconds until the whole body was read. */
async function readSlowly(order: Order, { head }: PreparedRequest, stepBytes: number): Promise<number> {
  const beganMs = performance.now()
  const socket = await open(order)
  socket.pause()
  socket.write(head)
  let left = order.workload.objectBytes
  let isFirst = true
  let quota = stepBytes
  while (left > 0) {
    if (socket.readableLength === 0) await once(socket, 'readable')
    const bytes: Buffer | null = socket.read(Math.min(quota, Math.max(1, socket.readableLength)))
    if (bytes === null) throw new Error('the server cut an answer off')
    if (isFirst) {
      checkStatus(bytes)
      left += bytes.indexOf('\r\n\r\n') + 4
      isFirst = false
    }
    left -= bytes.length
    quota -= bytes.length
    if (quota > 0) continue
    await passes(stepMs)
    quota = stepBytes
  }
  socket.destroy()
  return performance.now() - beganMs
}

function checkStatus(answer: Buffer): void {
  const line = answer.toString('latin1', 0, answer.indexOf('\r\n'))
  if (!line.startsWith('HTTP/1.1 2')) throw new Error(`a slow client was answered ${line}`)
}
