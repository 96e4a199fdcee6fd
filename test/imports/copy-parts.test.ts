/** What an import believes of a source that lies about the parts of an object. */
import { Agent, createServer } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { Endpoint } from '../../src/endpoint/endpoint.ts'
import { copyParts } from '../../src/imports/copy-parts.ts'

let count = ''
const agent = new Agent({ keepAlive: true })
const server = createServer((_, response) => {
  response.writeHead(200, { etag: '"a-2"', 'x-amz-mp-parts-count': count, 'content-length': 9 }).end()
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  agent.destroy()
  server.close()
})

it.each(['10001', '4000000000', '1e300', 'Infinity'])(
  'refuses an object of %s parts before it makes room for them',
  async (said) => {
    count = said
    const address = server.address()
    const url = new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
    const source = new Endpoint({ url, region: 'us-east-1', key: undefined, agent, clock: systemClock })
    const route = { source, target: source, from: 'a', to: 'b', ignoreEtags: false, clock: systemClock }
    const version = { isMarker: false, versionId: undefined, size: 9, etag: 'a-2', modifiedMs: 0 }
    await expect(copyParts(route, 'key', version)).rejects.toThrow('the source says that it has')
  },
)
