/** Issuers of web identities in the TOML file: what they come to, and what is said of mistakes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfiguration } from '../../src/config/configuration.ts'
import type { OidcProvider } from '../../src/sts/oidc/provider-settings.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-oidc-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

async function load(toml: string): Promise<OidcProvider[]> {
  const file = join(directory, 'holdfast.toml')
  await writeFile(file, toml)
  return (await loadConfiguration({ flags: { config: [file] }, environment: {}, directory })).oidc
}

const table = (rest: string, head = '[access.oidc]'): string => `${head}\nclientId = "holdfast"\n${rest}\n`
const issuer = 'issuer = "https://id.example.com/realm"'

describe('issuers', () => {
  it('are none where none are given', async () => {
    expect([await load(''), await load('[access]')]).toEqual([[], []])
  })

  it('name users `oidc` in the main account, and policies in the claim `policy`, unless said otherwise', async () => {
    expect(await load(table(issuer))).toEqual([
      { name: 'oidc', issuer: 'https://id.example.com/realm', clientId: 'holdfast', claim: 'policy', account: 'main' },
    ])
    const said = `${issuer}\nname = "ci"\nclaim = "roles"\naccount = "builds"\njwksUrl = "https://keys.example.com/jwks"`
    expect(await load(table(said))).toEqual([
      {
        name: 'ci',
        issuer: 'https://id.example.com/realm',
        clientId: 'holdfast',
        claim: 'roles',
        account: 'builds',
        jwksUrl: 'https://keys.example.com/jwks',
      },
    ])
  })

  it('can be several, each with a name of its own', async () => {
    const two = (other: string): string =>
      table(issuer, '[[access.oidc]]') + table(`${issuer}\n${other}`, '[[access.oidc]]')
    expect((await load(two('name = "ci"'))).map(({ name }) => name)).toEqual(['oidc', 'ci'])
    await expect(load(two(''))).rejects.toThrow("access.oidc: the name 'oidc' appears twice")
  })

  it.each(['http://127.0.0.1:8080', 'http://localhost/realm', 'http://[::1]:1'])(
    'can be on this machine: %s',
    async (url) => {
      expect((await load(table(`issuer = "${url}"`)))[0]?.issuer).toBe(url)
    },
  )

  it.each([
    ['issuer = "http://id.example.com"', 'access.oidc.issuer: must be an https URL; http only on this machine'],
    ['issuer = "http://127.0.0.1.example.com"', 'access.oidc.issuer: must be an https URL; http only on this machine'],
    ['issuer = "https://me:secret@id.example.com"', 'access.oidc.issuer: must be an https URL'],
    ['issuer = "https://id.example.com?a=b"', 'access.oidc.issuer: must have no query and no fragment'],
    ['issuer = "id.example.com"', 'access.oidc.issuer: must be an https URL'],
    ['', 'access.oidc.issuer: '],
    [`${issuer}\njwksUrl = "file:///etc/keys"`, 'access.oidc.jwksUrl: must be an https URL'],
    [`${issuer}\nname = "a/b"`, 'access.oidc.name: must be 1 to 32 letters'],
    [`${issuer}\nclaims = "roles"`, "access.oidc: unknown key 'claims'; did you mean 'claim'?"],
    [`${issuer}\n[access]\nodic = 1`, "unknown key 'access.odic'"],
  ])('are refused with %j', async (rest, message) => {
    await expect(load(table(rest))).rejects.toThrow(message)
  })
})
