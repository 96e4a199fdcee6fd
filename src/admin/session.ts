/** The admin port's operations for browsers: log in, log out, who is logged in, and keys with which a page uses the S3 port. */
import { z } from 'zod'
import { peerGroup } from '../http/connections/fair-share.ts'
import { limits } from '../limits.ts'
import { readCookie, setCookie } from '../logins/cookies.ts'
import { LogInRefused } from '../logins/log-in-refused.ts'
import { pauses } from '../pauses.ts'
import { isoTime } from '../time-text.ts'
import { type AdminContext, type AdminOperation, defineAdminOperation } from './requests/operation.ts'
import { name, noInput } from './views.ts'

const isSecure = ({ client }: AdminContext): boolean => client.origin.startsWith('https:')

/** What failed log-ins are counted by: whoever has one IPv6 address usually has a whole network of them. */
const peerOf = ({ client }: AdminContext): string => peerGroup(client.address)

/** The server decides when a session ends. The cookie ends with the longest one. */
function keep(context: AdminContext, cookie: string): void {
  const seconds = limits.browserSessionMs / 1000
  context.answerHeaders.push(...setCookie('session', cookie, { secure: isSecure(context), seconds }))
}

const begun = z.object({
  /** What pages send as `X-CSRF-Token` with each request that is not a GET. */
  csrfToken: z.string(),
  expires: z.string(),
})

const logIn = defineAdminOperation({
  name: 'LogIn',
  summary: 'Begins a session with an access key, and sets its cookie. The secret is compared and not kept.',
  method: 'POST',
  path: '/v1/session',
  permission: 'anyone',
  status: 201,
  input: z.strictObject({ accessKeyId: name, secretAccessKey: z.string().min(1).max(limits.secretCharsMax) }),
  output: begun,
  handle: async (context, _, { accessKeyId, secretAccessKey }) => {
    context.noted.accessKeyId = accessKeyId
    const { cookie, session } = await context.logIns.withKey(accessKeyId, secretAccessKey, peerOf(context))
    keep(context, cookie)
    return { csrfToken: session.csrfToken, expires: isoTime(session.expiresMs) }
  },
})

const logInMethods = defineAdminOperation({
  name: 'ListLogInMethods',
  summary: 'Lists the issuers at which users can log in, in addition to access keys.',
  method: 'GET',
  path: '/v1/session/methods',
  permission: 'anyone',
  status: 200,
  input: noInput,
  output: z.object({ issuers: z.array(z.string()) }),
  handle: async ({ logIns }) => ({ issuers: logIns.issuers }),
})

const callbackPath = '/v1/session/issuer/callback'

const logInAtIssuer = defineAdminOperation({
  name: 'BeginLogInAtIssuer',
  summary: 'Returns the URL of the log-in at an OpenID Connect issuer, which sends the browser back to this port.',
  method: 'POST',
  path: '/v1/session/issuer',
  permission: 'anyone',
  status: 200,
  input: z.strictObject({ issuer: name }),
  output: z.object({ url: z.string() }),
  handle: async (context, _, { issuer }) => {
    const { origin } = context.client
    const { url, pending } = await context.logIns.beginAtIssuer(issuer, origin + callbackPath, peerOf(context))
    const seconds = limits.pendingLogInMs / 1000
    context.answerHeaders.push(...setCookie('pending', pending, { secure: isSecure(context), seconds }))
    return { url }
  },
})

const endLogInAtIssuer = defineAdminOperation({
  name: 'FinishLogInAtIssuer',
  summary: 'Begins the session of a browser that comes back from an issuer, and sends it to the console.',
  method: 'GET',
  path: callbackPath,
  permission: 'anyone',
  status: 303,
  input: z.looseObject({ code: z.string().optional(), state: z.string().optional(), error: z.string().optional() }),
  output: undefined,
  handle: async (context) => {
    const { client, answerHeaders, logIns } = context
    const secure = isSecure(context)
    const pending = readCookie(client.cookies, 'pending', secure)
    answerHeaders.push(...setCookie('pending', '', { secure, seconds: 0 }))
    try {
      const { cookie, session } = await logIns.finishAtIssuer(pending, client.rawQuery, peerOf(context))
      context.noted.user = session.principal.user?.name ?? ''
      keep(context, cookie)
      answerHeaders.push('Location', '/')
    } catch (error) {
      if (!(error instanceof LogInRefused)) throw error
      context.noted.refused = error.code
      // A person sees this answer, so it leads to the page that explains it.
      answerHeaders.push('Location', `/?logIn=${error.code}`)
    }
  },
})

const logOut = defineAdminOperation({
  name: 'LogOut',
  summary: 'Ends the session. Temporary keys that it gave out expire by themselves, within 15 minutes.',
  method: 'DELETE',
  path: '/v1/session',
  permission: 'sender',
  status: 204,
  input: noInput,
  output: undefined,
  handle: async (context) => {
    const secure = isSecure(context)
    const cookie = readCookie(context.client.cookies, 'session', secure)
    if (context.client.session !== undefined && cookie !== undefined) await context.logIns.sessions.end(cookie)
    context.answerHeaders.push(...setCookie('session', '', { secure, seconds: 0 }))
  },
})

/** `all`: all operations of the port. */
const getSession = (all: () => readonly AdminOperation[]) =>
  defineAdminOperation({
    name: 'GetSession',
    summary: 'Shows who sends the request, what it may do here, and where the S3 port is.',
    method: 'GET',
    path: '/v1/session',
    permission: 'sender',
    status: 200,
    input: noInput,
    output: z.object({
      account: z.string(),
      accountName: z.string(),
      user: z.string().optional(),
      /** The key that the session began with, or that signed the request. Absent: the user logged in at an issuer. */
      accessKeyId: z.string().optional(),
      /** Absent: the request is signed. */
      csrfToken: z.string().optional(),
      expires: z.string().optional(),
      region: z.string(),
      s3Endpoint: z.string(),
      /** Operations of this port that the sender may call, for its own account if the path names one. */
      operations: z.array(z.string()),
    }),
    handle: async (context) => {
      const { principal, client, logIns } = context
      const { session } = client
      return {
        account: principal.accountId,
        accountName: principal.displayName,
        user: principal.user?.name,
        accessKeyId: session === undefined ? principal.accessKeyId : logIns.keyOf(principal),
        csrfToken: session?.csrfToken,
        expires: session && isoTime(session.expiresMs),
        region: context.info().region,
        s3Endpoint: context.s3Endpoint(client.origin),
        operations: all()
          .filter((operation) => context.may(operation))
          .map((operation) => operation.name),
      }
    },
  })

const createSessionKeys = defineAdminOperation({
  name: 'CreateSessionKeys',
  summary:
    'Gives a page temporary keys for the S3 port, with the rights of the session. They expire within 15 minutes.',
  method: 'POST',
  path: '/v1/session/keys',
  permission: 'sender',
  readOnly: true,
  status: 201,
  input: noInput,
  output: z.object({
    accessKeyId: z.string(),
    secretAccessKey: z.string(),
    sessionToken: z.string(),
    expires: z.string(),
  }),
  handle: async ({ client, principal, logIns }) => {
    // A signed request comes from the holder of a key, who can get temporary keys from STS.
    if (client.session === undefined) {
      throw new LogInRefused('SessionEnded', 'Only a browser session gets keys here. Ask for GetSessionToken instead.')
    }
    const { expiresMs, ...keys } = await logIns.sessions.issue(principal)
    return { ...keys, expires: isoTime(expiresMs) }
  },
})

const createLink = defineAdminOperation({
  name: 'CreateLink',
  summary:
    'Makes a URL with which anybody can read an object, signed with the key of the session. It stops working early if that key is disabled, rotated, or loses the right. A session that began at an issuer only has keys of 15 minutes.',
  method: 'POST',
  path: '/v1/session/link',
  permission: 'sender',
  readOnly: true,
  status: 201,
  input: z.strictObject({
    bucket: name,
    key: z.string().min(1).max(1024),
    versionId: z.string().max(1024).optional(),
    expiresSeconds: z.int().min(1).max(limits.presignedExpirySecondsMax),
  }),
  output: z.object({ url: z.string() }),
  handle: async ({ client, principal, logIns, s3Endpoint, info }, _, object) => {
    // A signed request comes from the holder of a secret, who can presign without the server.
    if (client.session === undefined) {
      throw new LogInRefused('SessionEnded', 'Only a browser session gets links here. Presign with the key instead.')
    }
    const endpoint = s3Endpoint(client.origin)
    return { url: await logIns.link(principal, { ...object, endpoint }, info().region) }
  },
})

const explainOwnAccess = defineAdminOperation({
  name: 'ExplainOwnAccess',
  summary: 'Says for several S3 actions whether the sender may do them. Nothing is done.',
  method: 'POST',
  path: '/v1/session/explain',
  permission: 'sender',
  readOnly: true,
  status: 200,
  input: z.strictObject({
    questions: z
      .array(z.strictObject({ action: name, resource: z.string().min(1).max(2048) }))
      .min(1)
      .max(64),
  }),
  output: z.object({ answers: z.array(z.object({ allowed: z.boolean(), reason: z.string() })) }),
  handle: async ({ explain, principal, client }, _, { questions }) => {
    const secureTransport = client.origin.startsWith('https:')
    const sourceIp = client.address === '' ? undefined : client.address
    const answers = []
    const pause = pauses()
    for (const question of questions) {
      await pause()
      answers.push(await explain({ principal }, { ...question, sourceIp, secureTransport }))
    }
    return { answers }
  },
})

export const sessionOperations = (all: () => readonly AdminOperation[]): readonly AdminOperation[] => [
  logIn,
  logInMethods,
  logInAtIssuer,
  endLogInAtIssuer,
  getSession(all),
  createSessionKeys,
  createLink,
  explainOwnAccess,
  logOut,
]
