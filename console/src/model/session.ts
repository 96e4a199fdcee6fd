/** Who is logged in, and the temporary S3 keys of the session. The user's own secret is sent once and never kept. */
import { signal } from '@preact/signals'
import { askAdmin, sessionsEnded, useCsrfToken } from '../api/admin.ts'
import type { Credentials } from '../api/sigv4.ts'

export interface Session {
  account: string
  accountName: string
  user?: string
  /** Absent: the user logged in at an issuer. */
  accessKeyId?: string
  csrfToken: string
  expires: string
  region: string
  /** The URL of the S3 port, as browsers reach it. */
  s3Endpoint: string
  /** Admin operations that the user may call. */
  operations: string[]
}

/** `undefined`: not known yet. `null`: nobody is logged in. */
export const session = signal<Session | null | undefined>(undefined)

sessionsEnded.subscribe((count) => {
  if (count > 0 && session.peek()) session.value = null
})

/** Asks whether the browser has a session. Never rejects. */
export async function findSession(): Promise<void> {
  try {
    const found = await askAdmin<Session>('GET', '/v1/session')
    useCsrfToken(found.csrfToken)
    session.value = found
  } catch {
    session.value = null
  }
}

/** Rejects with the server's reason. */
export async function logIn(accessKeyId: string, secretAccessKey: string): Promise<void> {
  const { csrfToken } = await askAdmin<{ csrfToken: string }>('POST', '/v1/session', { accessKeyId, secretAccessKey })
  useCsrfToken(csrfToken)
  await findSession()
}

/** The issuers at which users can log in. */
export async function logInIssuers(): Promise<string[]> {
  const { issuers } = await askAdmin<{ issuers: string[] }>('GET', '/v1/session/methods')
  return issuers
}

/** Sends the browser to the issuer, which sends it back here. */
export async function logInAt(issuer: string): Promise<void> {
  const { url } = await askAdmin<{ url: string }>('POST', '/v1/session/issuer', { issuer })
  location.assign(url)
}

export async function logOut(): Promise<void> {
  await askAdmin('DELETE', '/v1/session').catch(() => undefined)
  keys = undefined
  session.value = null
}

export interface AccessToS3 {
  endpoint: string
  region: string
  credentials: Credentials
}

type PageKeys = Required<Credentials> & { expires: string }

/** The page asks for new keys this long before the old ones expire. */
const renewBeforeMs = 60_000
let keys: Promise<PageKeys> | undefined

/** Throws when nobody is logged in. */
export async function accessToS3(): Promise<AccessToS3> {
  const current = session.peek()
  if (!current) throw new Error('The session has ended. Log in again.')
  keys ??= askAdmin<PageKeys>('POST', '/v1/session/keys')
  const asked = keys
  try {
    const credentials = await asked
    if (Date.parse(credentials.expires) - Date.now() > renewBeforeMs) {
      return { endpoint: current.s3Endpoint, region: current.region, credentials }
    }
  } catch (error) {
    if (keys === asked) keys = undefined
    throw error
  }
  if (keys === asked) keys = undefined
  return accessToS3()
}
