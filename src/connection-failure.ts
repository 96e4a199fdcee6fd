/** Describes failed connections in plain words: what is wrong, and what to do. Pure. */

const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'that name has no address',
  EAI_AGAIN: 'no name server answers',
  EHOSTUNREACH: 'no way leads to that host',
  ENETUNREACH: 'no way leads to that host',
  ETIMEDOUT: 'it does not answer',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet, or the clock of this machine is wrong',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
}

const fromUnknownAuthority: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** `isSecure`: TLS was asked for. The code stays in the text, for those who search for it. */
export function connectionFailure(error: unknown, { isSecure }: { isSecure: boolean }): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : undefined
  if (code === undefined) return error.message || error.name
  const cause = causes[code] ?? tlsCause(code, error.message, isSecure)
  if (cause !== undefined) return `${cause} (${code})`
  // Of a host with several addresses, the error has a code and no message.
  return error.message || code
}

function tlsCause(code: string, message: string, isSecure: boolean): string | undefined {
  if (fromUnknownAuthority.has(code)) {
    return 'its certificate is of an authority that this machine does not trust; name the file of the authority in NODE_EXTRA_CA_CERTS'
  }
  if (isSecure && message.includes('wrong version number')) return 'it does not speak TLS; ask it by http://'
  return undefined
}
