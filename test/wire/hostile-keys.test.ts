/** Keys are bytes and mean nothing: 500 hostile ones go through URL, listing, copy source and XML and come back as they were, and none becomes a path. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Server, startServer } from '../../src/index.ts'
import { encodeKey } from '../support/signer.ts'
import { md5Base64, md5Hex } from '../support/wire-checksums.ts'
import { openWire, styles, type Wire } from '../support/wire-client.ts'
import { fitsXml, hostileKeyCount, hostileKeys, xmlText } from '../support/wire-hostile-keys.ts'
import { mainKey } from '../support/wire-server.ts'
import { readXml, type XmlValue } from '../support/wire-xml.ts'

const keys = hostileKeys()
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

it('is 500 different keys that fit', () => {
  expect(new Set(keys).size).toBe(hostileKeyCount)
  expect(
    keys.filter((key) => key === '' || Buffer.byteLength(key) > 1024 || Buffer.from(key).toString() !== key),
  ).toEqual([])
  const parts = ['..', '%2e%2e', '\\', '\u0000', '\u0001', '\u{10ffff}', '__proto__', '<', '+', '?', '#']
  for (const part of parts)
    expect(
      keys.some((key) => key.includes(part)),
      part,
    ).toBe(true)
  for (const edge of ['/', ' ']) {
    expect(keys.some((key) => key.startsWith(edge)) && keys.some((key) => key.endsWith(edge)), edge).toBe(true)
  }
  expect(keys.filter((key) => Buffer.byteLength(key) === 1024).length).toBeGreaterThan(5)
})

describe('over memory', () => {
  roundTrips(async () => ({
    server: await startServer({ credentials: mainKey, buckets: ['wire', 'copies'] }),
    end: async () => {},
  }))
})

describe('over a data directory', () => {
  let root = ''
  const around = async (): Promise<string[]> => {
    const all = await readdir(root, { recursive: true })
    return all.filter((name) => name !== 'a/b/data' && !name.startsWith('a/b/data/')).sort()
  }
  let before: string[] = []

  roundTrips(
    async () => {
      root = await mkdtemp(join(tmpdir(), 'holdfast-hostile-'))
      await mkdir(join(root, 'a/b'), { recursive: true })
      await writeFile(join(root, 'a/b/beside'), '')
      before = await around()
      const data = join(root, 'a/b/data')
      const server = await startServer({ data, credentials: mainKey, buckets: ['wire', 'copies'] })
      return { server, end: () => rm(root, { recursive: true, force: true }) }
    },
    async () => {
      expect(before).toEqual(['a', 'a/b', 'a/b/beside'])
      expect(await around()).toEqual(before)
      const inside = await readdir(join(root, 'a/b/data'), { recursive: true })
      expect(inside.filter((name) => !/^[\w./-]+$/.test(name) || name.includes('..'))).toEqual([])
      // Fewer files than keys: none has one of its own.
      expect(inside.length).toBeLessThan(100)
    },
  )
})

interface Running {
  server: Server
  end(): Promise<void>
}

function roundTrips(start: () => Promise<Running>, afterwards: () => Promise<void> = async () => {}): void {
  let running: Running
  let wires: Wire[] = []
  beforeAll(async () => {
    running = await start()
    wires = styles.map((style) => openWire(running.server.port, style))
  })
  afterAll(async () => {
    for (const wire of wires) wire.close()
    await running.server.close()
    await running.end()
  })

  /** Each key once, in turn through both dialects and address styles, many at a time. */
  const each = async (work: (key: string, wire: Wire, index: number) => Promise<void>): Promise<void> => {
    for (let from = 0; from < keys.length; from += 32) {
      const batch = keys.slice(from, from + 32)
      await Promise.all(batch.map((key, i) => work(key, wires[(from + i) % wires.length] as Wire, from + i)))
    }
  }
  const shown = (key: string): string => JSON.stringify(key.slice(0, 60))

  it('stores each by PUT', async () => {
    await each(async (key, wire) => {
      const reply = await wire.ask({ method: 'PUT', key, body: key })
      expect([reply.status, reply.headers.get('etag')], shown(key)).toEqual([200, `"${md5Hex(key)}"`])
    })
  })

  it('reads each by GET and HEAD', async () => {
    await each(async (key, wire) => {
      const got = await wire.ask({ method: 'GET', key })
      expect([got.status, got.body.toString()], shown(key)).toEqual([200, key])
      const found = await wire.ask({ method: 'HEAD', key })
      expect([found.status, found.headers.get('content-length')], shown(key)).toEqual([
        200,
        String(Buffer.byteLength(key)),
      ])
    })
  })

  it.each(['as they are', 'encoded'])('lists all of them, %s, in order of their bytes', async (how) => {
    const query: Record<string, string> = { 'list-type': '2', ...(how === 'encoded' ? { 'encoding-type': 'url' } : {}) }
    const reply = await (wires[0] as Wire).must({ method: 'GET', query })
    expect(keysIn(reply.body, how === 'encoded')).toEqual(keys.toSorted(byBytes))
  })

  it('finds each by a prefix, and starts behind each', async () => {
    const ordered = keys.toSorted(byBytes)
    await each(async (key, wire) => {
      const query = { 'list-type': '2', 'max-keys': '1', 'encoding-type': 'url' }
      const found = await wire.must({ method: 'GET', query: { ...query, prefix: key } })
      expect(keysIn(found.body, true), shown(key)).toEqual([key])
      const next = await wire.must({ method: 'GET', query: { ...query, 'start-after': key } })
      expect(keysIn(next.body, true), shown(key)).toEqual(ordered.slice(ordered.indexOf(key) + 1).slice(0, 1))
    })
  })

  it('copies each', async () => {
    await each(async (key, wire, index) => {
      const copy = { method: 'PUT', bucket: 'copies', key: `copy ${index}` } as const
      const reply = await wire.ask({ ...copy, vendor: { 'copy-source': `/wire/${encodeKey(key)}` } })
      expect(reply.status, shown(key)).toBe(200)
      const got = await wire.must({ method: 'GET', bucket: 'copies', key: copy.key })
      expect(got.body.toString(), shown(key)).toBe(key)
    })
  })

  it('removes those that XML can carry by DeleteObjects, and the others by DELETE', async () => {
    await each(async (key, wire) => {
      if (!fitsXml(key)) return void (await wire.must({ method: 'DELETE', key }))
      const body = `<Delete><Object><Key>${xmlText(key)}</Key></Object></Delete>`
      const headers = { 'Content-MD5': md5Base64(body) }
      const reply = await wire.must({ method: 'POST', query: { delete: '' }, headers, body })
      expect(readXml(reply.body).value, shown(key)).toEqual({ Deleted: { Key: key } })
    })
    const left = await (wires[0] as Wire).must({ method: 'GET', query: { 'list-type': '2' } })
    expect(keysIn(left.body, false)).toEqual([])
    expect(keys.filter(fitsXml).length).toBeGreaterThan(400)
  })

  it('leaves nothing where it does not belong', afterwards)
}

function keysIn(body: Buffer, encoded: boolean): string[] {
  const { Contents = [] } = readXml(body).value as { Contents?: XmlValue | XmlValue[] }
  const listed = [Contents].flat().map((entry) => (typeof entry === 'string' ? entry : String(entry.Key)))
  return encoded ? listed.map(decodeURIComponent) : listed
}
