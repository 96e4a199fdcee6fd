/** Mutations of temporary keys: what would make them last, widen or forge. */
import type { Mutation } from './mutation.ts'

const wire = 'wire/temporary-keys.test.ts'
const web = 'wire/web-identity.test.ts'
const sts = 'wire/sts.test.ts'

export const temporaryKeyMutations: readonly Mutation[] = [
  {
    name: 'temporary keys never expire',
    file: 'auth/sessions.ts',
    find: "if (nowMs >= this.#session.expiresMs) throw new S3Error('ExpiredToken')",
    replace: 'void nowMs',
    suite: wire,
  },
  {
    name: 'forms take expired tokens',
    file: 'auth/verify-form.ts',
    find: 'if (!matches) throw mismatch(scope.accessKeyId, policy, claimed)\n  session?.checkTime(nowMs)',
    replace: 'if (!matches) throw mismatch(scope.accessKeyId, policy, claimed)\n  void nowMs',
    suite: wire,
  },
  {
    name: 'signatures of version 2 take expired tokens',
    file: 'auth/verify-version2.ts',
    find: 'session?.checkTime(nowMs)',
    replace: '',
    suite: wire,
  },
  {
    name: 'a token goes with any access key',
    file: 'auth/sessions.ts',
    find: 'if (session.accessKeyId !== accessKeyId) throw invalidToken()',
    replace: 'void accessKeyId',
    suite: wire,
  },
  {
    name: 'sessions outlive the rotation of their key',
    file: 'auth/sessions.ts',
    find: 'if (!this.#isStillItsSecret(parent.secretAccessKey, holder.secretTag)) return undefined',
    replace: '',
    suite: wire,
  },
  {
    name: 'sessions of an issuer outlive its trust',
    file: 'auth/sessions.ts',
    find: 'if (!isTrusted || !credentials.hasAccount(accountId)) return undefined',
    replace: 'if (!credentials.hasAccount(accountId)) return undefined',
    suite: 'auth/sessions.test.ts',
  },
  {
    name: 'a token has several spellings',
    file: 'auth/sealed-text.ts',
    find: "if (bytes.toString('base64url') !== sealed) return undefined",
    replace: '',
    suite: 'auth/session-token.test.ts',
  },
  {
    name: 'a session made by a session is not narrowed as that one is',
    file: 'sts/assume-role.ts',
    find: 'policy: policy ?? session?.policy,',
    replace: 'policy,',
    suite: wire,
  },
  {
    name: 'a session policy takes the place of another',
    file: 'sts/assume-role.ts',
    find: 'if (policy !== undefined && session?.policy !== undefined) {',
    replace: 'if (policy === "" && session?.policy !== undefined) {',
    suite: sts,
  },
  {
    name: 'temporary keys can renew themselves',
    file: 'sts/session-parts.ts',
    find: 'untilMs: principal.session.expiresMs }',
    replace: 'untilMs: Number.POSITIVE_INFINITY }',
    suite: sts,
  },
  {
    name: 'a Deny of sts:AssumeRole is not looked at',
    file: 'sts/assume-role.ts',
    find: "caller.refuseDenied('sts:AssumeRole')",
    replace: '',
    suite: sts,
  },
  {
    name: 'signatures made for S3 ask for temporary keys',
    file: 'auth/authorization.ts',
    find: 'if (service !== asked) throw wrongService(service, asked, refuse)',
    replace: '',
    suite: sts,
  },
  {
    name: 'the body of a request for temporary keys is not held to its digest',
    file: 'auth/verify.ts',
    find: 'if (declared !== undefined && declared !== bodySha256) {',
    replace: 'if (declared === "") {',
    suite: sts,
  },
  {
    name: 'a token for somebody else is taken',
    file: 'sts/oidc/web-identities.ts',
    find: '    audience: provider.clientId,\n    algorithms,',
    replace: '    algorithms,',
    suite: web,
  },
  {
    name: 'a token is taken for some seconds after its end',
    file: 'sts/oidc/web-identities.ts',
    find: 'if (expiresMs <= clock.now()) throw expired()',
    replace: '',
    suite: web,
  },
  {
    name: 'keys of a web identity outlast its token',
    file: 'sts/assume-role-with-web-identity.ts',
    find: 'Math.min(clock.now() + seconds * 1000, expiresMs)',
    replace: 'clock.now() + seconds * 1000',
    suite: web,
  },
  {
    name: 'a web identity without policies gets keys',
    file: 'sts/web-holder.ts',
    find: 'if (found.length === 0) {',
    replace: 'if (found.length < 0) {',
    suite: web,
  },
  {
    name: 'an issuer may send elsewhere for its keys',
    file: 'sts/oidc/fetch-bytes.ts',
    find: "redirect: 'manual',",
    replace: "redirect: 'follow',",
    suite: web,
  },
  {
    name: 'a discovery document of another issuer is believed',
    file: 'sts/oidc/issuer-keys.ts',
    find: 'if (document.issuer !== issuer)',
    replace: 'if (document.issuer === undefined)',
    suite: web,
  },
]
