/** Connections by TLS: whose certificates are believed. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { KvUnavailable } from '../../../src/kv/kv.ts'
import { openPostgres } from '../../../src/kv/postgres.ts'
import { makeAuthority, opensslProbe } from '../../support/authority.ts'
import { describeInstalled } from '../../support/installed.ts'
import { PostgresServer, postgresProbe } from '../../support/postgres.ts'
import { openedPostgres } from '../../support/postgres-engine.ts'
import { put } from '../text-entries.ts'

describeInstalled('a connection to PostgreSQL by TLS', [postgresProbe, opensslProbe], () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-tls-'))
  const made = (name: string) => {
    mkdirSync(join(directory, name))
    return makeAuthority(join(directory, name))
  }
  let server: PostgresServer
  let trusted: string
  let other: string
  beforeAll(async () => {
    chmodSync(directory, 0o755)
    const authority = made('trusted')
    trusted = authority.certFile
    other = made('other').certFile
    const { cert, key } = authority.issue('the database')
    const [certFile, keyFile] = [join(directory, 'server.pem'), join(directory, 'server.key')]
    writeFileSync(certFile, cert)
    writeFileSync(keyFile, key, { mode: 0o600 })
    // The server runs as another user then.
    if (process.getuid?.() === 0) chownSync(keyFile, Number(execFileSync('id', ['-u', 'nobody'])), 0)
    // It answers at a second address, which is not in its certificate.
    const settings = ['ssl=on', `ssl_cert_file=${certFile}`, `ssl_key_file=${keyFile}`]
    server = await PostgresServer.start([...settings, 'listen_addresses=127.0.0.1,127.0.0.2'])
  })
  afterAll(async () => {
    await server?.remove()
    rmSync(directory, { recursive: true, force: true })
  })
  const url = (host: string, authority: string): string =>
    `postgres://holdfast@${host}:${server.port}/postgres?sslmode=verify-full&sslrootcert=${authority}`

  it.each(['127.0.0.1', 'localhost'])('is encrypted where %s proves who it is', async (host) => {
    const kv = await openedPostgres({ url: url(host, trusted) })
    expect(await kv.commit({ puts: [put('a')] })).toBe(true)
    const plain = `select count(*) from pg_stat_ssl s join pg_stat_activity a using (pid) where a.application_name = 'holdfast'`
    expect(Number(server.run('postgres', `${plain} and s.ssl`))).toBeGreaterThan(0)
    expect(server.run('postgres', `${plain} and not s.ssl`)).toBe('0')
    await kv.close()
  })

  it('is not made where the certificate is another authority’s', async () => {
    await expect(openPostgres({ url: url('127.0.0.1', other) })).rejects.toThrow(KvUnavailable)
  })

  it('is not made where the certificate is for another address', async () => {
    const refusal = () => openPostgres({ url: url('127.0.0.2', trusted) }).catch((error: unknown) => error)
    await expect.poll(refusal).toMatchObject({
      cause: expect.objectContaining({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
    })
  })
})
