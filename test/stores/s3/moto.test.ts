/** The same over a server that is not ours. */
import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInstalled } from '../../support/installed.ts'
import { patternBytes } from '../../support/seeded.ts'
import { describeShardStore, get, listed, put } from '../suite.ts'
import { farSideAt, openRemote } from './far-side.ts'
import { openFaultProxy } from './fault-proxy.ts'

describeInstalled('moto', [['moto_server', '--help']], () => {
  let moto: ChildProcess
  let endpoint: string
  beforeAll(async () => {
    moto = spawn('moto_server', ['-H', '127.0.0.1', '-p', '0'], { stdio: ['ignore', 'ignore', 'pipe'] })
    endpoint = await new Promise((resolve, reject) => {
      let said = ''
      moto.stderr?.on('data', (chunk) => {
        said += chunk
        const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? []
        if (url !== undefined) resolve(url)
      })
      moto.once('exit', (code) => reject(new Error(`moto ended with ${code}: ${said}`)))
    })
    await farSideAt(endpoint).makeBucket('bucket')
  })
  afterAll(() => {
    moto.kill('SIGKILL')
  })

  test('takes large shards in parts', async () => {
    const { address } = farSideAt(endpoint)
    const { store } = await openRemote({ ...address, prefix: 'large/' })
    const payload = patternBytes(1, 11 * 1024 * 1024 + 5)
    const id = await put(store, payload, 'large')
    expect((await get(store, id, 0, payload.length)).equals(payload)).toBe(true)
    expect(await listed(store)).toMatchObject([{ id, payloadBytes: payload.length }])
    const [batch] = await store.unchecked()
    await store.close()
    const again = await openRemote({ ...address, prefix: 'large/' })
    await again.store.markChecked(batch?.id ?? '')
    expect(await again.store.unchecked()).toEqual([])
    await again.store.close()
  })

  let stores = 0
  describeShardStore('a bucket of moto', async () => {
    // It is never full, so the way there says so in its place.
    const proxy = await openFaultProxy(endpoint)
    const side = farSideAt(proxy.endpoint)
    const { store, clock } = await openRemote({ ...side.address, prefix: `${stores++}/` })
    return {
      store,
      clock,
      fill: async () => proxy.decide((method) => (method === 'PUT' ? 507 : 'pass')),
      empty: async () => proxy.decide(() => 'pass'),
      dispose: async () => {
        await store.close()
        await proxy.close()
        side.client.destroy()
      },
    }
  })
})
