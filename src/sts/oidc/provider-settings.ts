/** An OpenID Connect issuer that the configuration trusts. */
export interface OidcProvider {
  /** Part of its users' ARNs: `arn:aws:iam::main:user/NAME/SUBJECT`. */
  name: string
  /** The issuer's URL, exactly as in its tokens and its discovery document. */
  issuer: string
  /** The audience (`aud`) that tokens must have. */
  clientId: string
  /** The claim that lists the names of policies. */
  claim: string
  /** Id of the account whose users the signed-in people become. */
  account: string
  /** The secret for browser log-ins. Absent: the server is a public client, which proves itself by PKCE alone. */
  clientSecret?: string | undefined
  /** The scopes that browser log-ins request. Absent: `openid profile email`. */
  scope?: string | undefined
  /** The URL of its keys. Absent: the discovery document names it. */
  jwksUrl?: string | undefined
}

const loopbackHost = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Whether keys may be fetched from this URL: over TLS, or from this machine. Anything else could be forged. */
export function isTrustedAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && loopbackHost.test(hostname))
}
