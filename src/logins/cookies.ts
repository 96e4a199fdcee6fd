/** The cookies of browser sessions. Pure. */

const sessionName = 'holdfast-session'
const pendingName = 'holdfast-log-in'

export type CookieKind = 'session' | 'pending'

/** `__Host-` binds the cookie to this host and to TLS: no other host of the domain can set one. */
const nameOf = (kind: CookieKind, secure: boolean): string =>
  `${secure ? '__Host-' : ''}${kind === 'session' ? sessionName : pendingName}`

/**
 * `pending` must come back with a redirect from an issuer's site, so it can't be strict. It opens nothing by itself. An empty value removes the cookie.
 */
export function setCookie(
  kind: CookieKind,
  value: string,
  { secure, seconds }: { secure: boolean; seconds: number },
): string[] {
  const sameSite = kind === 'session' ? 'Strict' : 'Lax'
  const parts = [
    `${nameOf(kind, secure)}=${value}`,
    'Path=/',
    'HttpOnly',
    `SameSite=${sameSite}`,
    `Max-Age=${value === '' ? 0 : Math.floor(seconds)}`,
  ]
  return ['Set-Cookie', [...parts, ...(secure ? ['Secure'] : [])].join('; ')]
}

/** `header`: the Cookie header as sent. A cookie that comes twice counts as absent: one of them may have been planted. */
export function readCookie(header: string | undefined, kind: CookieKind, secure: boolean): string | undefined {
  const name = nameOf(kind, secure)
  const found = (header ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : []
  })
  return found.length === 1 && found[0] !== '' ? found[0] : undefined
}
