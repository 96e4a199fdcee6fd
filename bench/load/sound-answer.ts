/** Looks at one whole answer before a workload is measured: a server that answers too little is not fast. */
import { Connection } from './connection.ts'
import type { Order } from './order.ts'
import { type PreparedRequests, pageKeysMax, requestLine } from './requests.ts'

/** Rejects when the server does not answer the first request with all that was asked for. Sends nothing that changes anything. */
export async function checkAnswer(
  { endpoint, workload }: Order,
  { requests, cyclic, status: wanted }: PreparedRequests,
): Promise<void> {
  const [first] = requests
  // What an answer that says failure holds is the server's own.
  if (!cyclic || first === undefined || first.isHead || wanted !== undefined) return
  const connection = await Connection.open(endpoint.host, endpoint.port)
  try {
    const { status, text } = await connection.ask(first)
    const body = text.slice(text.indexOf('\r\n\r\n') + 4)
    const expected = { status: 200, size: workload.objectBytes }
    if (workload.kind === 'range') Object.assign(expected, { status: 206, size: workload.movedBytes })
    if (workload.kind.startsWith('list')) expected.size = workload.pageKeys ?? pageKeysMax
    const size = workload.kind.startsWith('list') ? entriesOf(body) : body.length
    if (status === expected.status && size === expected.size) return
    const said = `answered ${status} with ${size} bytes or keys, not ${expected.status} with ${expected.size}`
    throw new Error(`${requestLine(first)} was ${said}`)
  } finally {
    connection.close()
  }
}

function entriesOf(page: string): number {
  return page.match(/<Contents>|<CommonPrefixes>/g)?.length ?? 0
}
