/** An OpenID Connect issuer, as the configuration trusts it. */
export interface OidcProvider {
  /** Names its users: `arn:aws:iam::main:user/NAME/SUBJECT`. */
  name: string
  /** As its tokens and its discovery document say it. */
  issuer: string
  /** What tokens must have been made for: `aud`. */
  clientId: string
  /** The claim that lists names of policies. */
  claim: string
  /** Id of the account whose users they become. */
  account: string
  /** Where its keys are. Absent: the discovery document says it. */
  jwksUrl?: string | undefined
}

const loopbackHost = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Whether an issuer may be asked there. What comes without TLS can be anybody's, but for what comes from this machine. */
export function isTrustedAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && loopbackHost.test(hostname))
}
