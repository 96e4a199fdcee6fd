/** Validates the configuration's issuers of web identities. */
import { lazySchema } from '../lazy-schema.ts'
import { isTrustedAddress, type OidcProvider } from '../sts/oidc/provider-settings.ts'
import { rootAccount } from './accounts.ts'
import { parseWith } from './parse-with.ts'
import { refuseRepeated } from './refuse-repeated.ts'

const schemas = lazySchema((z) => {
  const address = z.string().refine(isTrustedAddress, 'must be an https URL; http only on this machine')

  const provider = z.strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, _ or -')
      .default('oidc'),
    issuer: address.refine((text) => !/[?#]/.test(text), 'must have no query and no fragment'),
    clientId: z.string().min(1).max(256),
    claim: z.string().min(1).max(256).default('policy'),
    account: z.string().min(1).max(64).default(rootAccount.id),
    jwksUrl: address.optional(),
    clientSecret: z.string().min(1).max(1024).optional(),
    scope: z
      .string()
      .regex(/^[\x21\x23-\x5b\x5d-\x7e ]{1,512}$/, 'must be names of scopes with spaces between them')
      .refine((text) => text.split(' ').includes('openid'), "must include 'openid'")
      .optional(),
  })
  return { one: provider, several: z.array(provider) }
})

const keys = ['name', 'issuer', 'clientId', 'claim', 'account', 'jwksUrl', 'clientSecret', 'scope']

/** `value`: a table or an array of them. `where` names the source in messages. Throws `ConfigurationError`. */
export function parseOidcProviders(value: unknown, where = 'access.oidc'): OidcProvider[] {
  if (value === undefined) return []
  const providers = Array.isArray(value)
    ? parseWith(schemas().several, value, where, keys)
    : [parseWith(schemas().one, value, where, keys)]
  // Policies could not distinguish users of two issuers with the same name.
  refuseRepeated(
    where,
    'the name',
    providers.map(({ name }) => name),
  )
  return providers
}
