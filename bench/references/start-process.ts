/** What the library costs at its start: `start-process FILE` imports it, starts a server in memory again and again, and prints milliseconds of each as JSON. */
import { pathToFileURL } from 'node:url'

interface Library {
  startServer(): Promise<{ close(): Promise<void> }>
}

const warmStarts = 15

async function spentMs<T>(work: () => Promise<T>): Promise<[ms: number, result: T]> {
  const beganMs = performance.now()
  const result = await work()
  return [performance.now() - beganMs, result]
}

const [importMs, library] = await spentMs((): Promise<Library> => import(pathToFileURL(process.argv[2] ?? '').href))
const starts: number[] = []
for (let i = 0; i <= warmStarts; i++) {
  const [ms, server] = await spentMs(() => library.startServer())
  starts.push(ms)
  await server.close()
}
const [firstMs, ...warm] = starts
const warmMs = warm.sort((a, b) => a - b)[warm.length >> 1]
process.stdout.write(`${JSON.stringify({ importMs, firstMs, warmMs })}\n`)
