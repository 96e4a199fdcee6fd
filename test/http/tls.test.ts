/** TLS on the port: who is let in, who is cut, and what of a connection does not depend on it. */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect as connectPlain, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { KeyPair } from '../../src/http/connections/tls-front.ts'
import { type Authority, makeAuthority, opensslProbe } from '../support/authority.ts'
import { describeInstalled } from '../support/installed.ts'
import { type HeaderPair, sign } from '../support/signer.ts'
import { bodyOperations, step, steps } from './body-operations.ts'
import { connectionOperation } from './connection-operation.ts'
import { type Fixture, type FixtureOptions, key, startFixture, wireBytes } from './fixture.ts'

describeInstalled('TLS on the port', [opensslProbe], () => {
  let directory: string
  let authority: Authority
  let pair: KeyPair
  let fixture: Fixture
  const sockets = new Set<Socket>()

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'holdfast-tls-'))
    authority = makeAuthority(directory)
    pair = authority.issue('first')
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))
  afterEach(async () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
    await fixture.close()
  })

  const start = async (options: FixtureOptions = {}, operations = [connectionOperation]): Promise<void> => {
    fixture = await startFixture(operations, { tls: pair, ...options })
  }
  const kept = <S extends Socket>(socket: S): S => {
    sockets.add(socket)
    return socket.on('error', () => {})
  }
  const plain = (): Socket => kept(connectPlain(fixture.port, '127.0.0.1'))
  const open = async (options: ConnectionOptions = {}): Promise<TLSSocket> => {
    const socket = kept(connect({ port: fixture.port, host: '127.0.0.1', ca: authority.cert, ...options }))
    await once(socket, 'secureConnect')
    return socket
  }
  const get = (extra: HeaderPair[] = []): Buffer => {
    const signed = sign({ method: 'GET', host: fixture.host, path: '/b/k' }, { key })
    return wireBytes({ ...signed, headers: [...signed.headers, ...extra] })
  }
  const commonName = (socket: TLSSocket): unknown => socket.getPeerCertificate().subject.CN

  /** What comes until the server ends the connection. */
  async function rest(socket: Socket): Promise<string> {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    // Not `once` of events: a reset is an end like any other.
    await new Promise((resolve) => socket.once('close', resolve))
    return text
  }
  const askOnce = (socket: Socket): Promise<string> => {
    socket.write(get([['Connection', 'close']]))
    return rest(socket)
  }

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    '%s is spoken, and operations are told that the URL is https',
    async (version) => {
      await start()
      const socket = await open({ minVersion: version, maxVersion: version })
      expect([socket.getProtocol(), commonName(socket)]).toEqual([version, 'first'])
      const answer = await askOnce(socket)
      expect(answer).toMatch(/^HTTP\/1\.1 200 /)
      expect(answer).toContain(`<Url>https://${fixture.host}/b/k</Url>`)
      expect(answer).toContain('<CustomerKeys>true</CustomerKeys>')
    },
  )

  it('older versions of TLS are refused', async () => {
    await start()
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    await expect(open(old)).rejects.toThrow(/protocol version/)
  })

  it('a client that offers HTTP/2 too gets HTTP/1.1', async () => {
    await start()
    const socket = await open({ ALPNProtocols: ['h2', 'http/1.1'] })
    expect(socket.alpnProtocol).toBe('http/1.1')
    expect(await askOnce(socket)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('plain HTTP is told that the port speaks TLS, and others are served on', async () => {
    await start()
    const socket = plain()
    socket.write(get())
    expect(await rest(socket)).toMatch(/^HTTP\/1\.1 400 .*<Message>This port speaks TLS only: ask it by https:/s)
    expect(await askOnce(await open())).toMatch(/^HTTP\/1\.1 200 /)
    expect(fixture.logs).toHaveLength(1)
  })

  it('bytes that are nothing are cut without an answer in HTTP; others are served on', async () => {
    await start()
    for (const bytes of [Buffer.from('nothing of the kind'), Buffer.alloc(70_000, 'x')]) {
      const socket = plain()
      socket.write(bytes)
      expect(await rest(socket)).not.toContain('HTTP')
    }
    const left = plain()
    await once(left, 'connect')
    left.destroy()
    expect(await askOnce(await open())).toMatch(/^HTTP\/1\.1 200 /)
    expect(fixture.logs).toHaveLength(1)
  })

  it('what is no HTTP inside of TLS is answered as on a plain port', async () => {
    await start()
    const socket = await open()
    socket.write('NOT HTTP\r\n\r\n')
    expect(await rest(socket)).toMatch(/^HTTP\/1\.1 400 .*<Code>BadRequest<\/Code>/s)
  })

  it('bytes that are no TLS after a handshake end that connection, and no other', async () => {
    await start()
    let between: Socket | undefined
    const meddler = createServer((client) => {
      between = plain()
      kept(client).pipe(between).pipe(client)
    }).listen(0, '127.0.0.1')
    await once(meddler, 'listening')
    const socket = await open({ port: (meddler.address() as AddressInfo).port })
    const idle = await open()
    between?.write(Buffer.alloc(100, 'x'))
    await rest(socket)
    meddler.close()
    expect(await askOnce(idle)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it.each([
    ['says nothing', ''],
    // Five bytes of a record's head, of which the rest never comes.
    ['begins', '\x16\x03\x01\x02\x00'],
  ])('a client that %s is cut in time', async (_what, bytes) => {
    await start({ bounds: { tlsHandshakeTimeoutMs: 50 } })
    const socket = plain()
    socket.write(Buffer.from(bytes, 'latin1'))
    await rest(socket)
  })

  it('a client that goes on beginning, byte by byte, is cut too', async () => {
    await start({ bounds: { tlsHandshakeTimeoutMs: 200 } })
    const socket = plain()
    socket.write(Buffer.from('\x16\x03\x01\x40\x00\x01\x00\x3f\xfc', 'latin1'))
    const trickle = setInterval(() => socket.write('x'), 20)
    await rest(socket)
    clearInterval(trickle)
  })

  it('a renewed certificate is what new connections get, while older ones live on', async () => {
    await start()
    const before = await open()
    fixture.server.renewTls(authority.issue('second'))
    const after = await open({ session: before.getSession() })
    expect([commonName(before), commonName(after)]).toEqual(['first', 'second'])
    expect(await askOnce(before)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await askOnce(after)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('a pair that cannot be used leaves the old one in use', async () => {
    await start()
    expect(() => fixture.server.renewTls({ ...pair, cert: authority.issue('other').cert })).toThrow()
    expect(commonName(await open())).toBe('first')
  })

  it('connections that another process accepted are served', async () => {
    await start({ given: true })
    expect(await askOnce(await open())).toContain('<Url>https://')
  })

  it('closing cuts idle connections and handshakes at once, and lets a running request end', async () => {
    await start({}, bodyOperations)
    const silent = plain()
    await once(silent, 'connect')
    const idle = await open()
    const busy = await open()
    const working = step('working')
    const slow = sign({ method: 'POST', host: fixture.host, path: '/b/k', query: [['slow', '']] }, { key })
    busy.write(wireBytes(slow))
    await working
    const answered = rest(busy)
    const others = [rest(silent), rest(idle)]
    const closed = fixture.close()
    await Promise.all(others)
    steps.emit('done', 'well')
    expect(await answered).toMatch(/Connection: close.*<Say>well<\/Say>/s)
    await closed
    await expect(open()).rejects.toThrow('ECONNREFUSED')
  })

  it.each([
    ['TLS', true],
    ['plain HTTP', false],
  ])('a head that does not end is cut in time on given connections of %s', async (_what, secure) => {
    fixture = await startFixture([connectionOperation], {
      given: true,
      bounds: { headersTimeoutMs: 1000 },
      ...(secure ? { tls: pair } : {}),
    })
    const socket = secure ? await open() : plain()
    socket.write('GET /b/k HTTP/1.1\r\nHost: ')
    expect(await rest(socket)).toMatch(/^HTTP\/1\.1 400 .*<Code>RequestTimeout<\/Code>/s)
  })

  it('connections take their place from the handshake on, and leave it at their end', async () => {
    await start({ bounds: { connectionsMax: 4 } })
    for (let i = 0; i < 10; i++) expect(await askOnce(await open())).toMatch(/^HTTP\/1.1 200/)
    // Handshakes that never begin are idle, and make room for those that do.
    const silent = [plain(), plain(), plain()]
    await Promise.all(silent.map((socket) => once(socket, 'connect')))
    for (let i = 0; i < 5; i++) expect(await askOnce(await open())).toMatch(/^HTTP\/1.1 200/)
  })
})
