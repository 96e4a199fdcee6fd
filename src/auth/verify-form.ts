/**
 * Verifies the signature of a form post. It covers only the policy in the form: whether the policy allows the form is checked later.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-authentication-HTTPPOST.html
 */
import { invalidArgument, notImplemented, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { checkScopeDate, checkService, parseScope, type Refusal } from './authorization.ts'
import type { Credentials } from './credentials.ts'
import type { FormFields } from './form-policy.ts'
import { nobody, type Principal } from './principal.ts'
import { unknownAccessKey } from './refusals.ts'
import { invalidToken } from './session-token.ts'
import type { OpenSession, Sessions } from './sessions.ts'
import { sameSignatureOfVersion2, signatureOfVersion2 } from './sigv2.ts'
import { algorithm, parseTimestamp, sameSignature, signature } from './sigv4.ts'
import { notTaken, type Version2Rules } from './verify-version2.ts'

const version4Names = ['algorithm', 'credential', 'date', 'signature'] as const
const version2Names = ['awsaccesskeyid', 'signature'] as const
const prefixes = ['x-amz-', 'x-store-'] as const

/** How a form claims to be signed: by version 4 under a dialect's prefix, or by version 2. */
type Mechanism = (typeof prefixes)[number] | 'version 2'

export interface FormRules {
  credentials: Credentials
  sessions: Sessions
  nowMs: number
  version2: Pick<Version2Rules, 'taken'>
}

/** The mechanisms that a form claims. None: it is unsigned. */
function formMechanisms(fields: FormFields): Mechanism[] {
  const found: Mechanism[] = prefixes.filter((prefix) => version4Names.some((name) => fields.has(prefix + name)))
  return version2Names.some((name) => fields.has(name)) ? [...found, 'version 2'] : found
}

/**
 * Who signed the form's policy; `nobody` for a form with neither policy nor signature. Throws AccessDenied for one without the other, and the S3Error
 * for a signature that can't be verified.
 */
export function verifyForm(fields: FormFields, rules: FormRules): Principal {
  const [mechanism, ...others] = formMechanisms(fields)
  const claims = ['policy', ...prefixes.map((prefix) => `${prefix}security-token`)]
  if (mechanism === undefined && !claims.some((name) => fields.has(name))) return nobody
  if (mechanism === undefined || !fields.has('policy')) throw new S3Error('AccessDenied')
  if (others.length > 0) {
    throw new S3Error('InvalidArgument', { message: 'Only one auth mechanism allowed; a form is signed once.' })
  }
  if (mechanism !== 'version 2') return verifyVersion4(fields, rules, mechanism)
  // A form counts as presigned, because it is made for others, like a URL.
  if (rules.version2.taken === 'off') throw notTaken('query')
  return verifyVersion2(fields, rules)
}

/** The session of temporary keys. The policy must name the token's field, like any other. */
function sessionOf(fields: FormFields, { sessions }: FormRules, accessKeyId: string): OpenSession | undefined {
  const [token, ...others] = prefixes.flatMap((prefix) => fields.get(`${prefix}security-token`) ?? [])
  if (others.some((other) => other !== token)) throw invalidToken()
  return token === undefined ? undefined : sessions.open(token, accessKeyId)
}

function verifyVersion4(fields: FormFields, rules: FormRules, prefix: string): Principal {
  const field = (name: (typeof version4Names)[number]): string => required(fields, prefix + name)
  const claimedAlgorithm = field('algorithm')
  if (claimedAlgorithm !== algorithm) {
    if (claimedAlgorithm.startsWith('AWS4-ECDSA-')) throw notImplemented(claimedAlgorithm)
    throw invalidArgument(`${prefix}algorithm`, claimedAlgorithm, `${prefix}algorithm only supports "${algorithm}"`)
  }
  const timestamp = field('date')
  if (parseTimestamp(timestamp) === undefined) {
    const form = `must be in the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'"`
    throw invalidArgument(`${prefix}date`, timestamp, `${prefix}date ${form}`)
  }
  // The value stays out of the error: some clients are configured with the secret in the key's place.
  const refuse: Refusal = (reason) =>
    invalidArgument(`${prefix}credential`, '', `Error parsing the credential; ${reason}`)
  const scope = parseScope(field('credential'), refuse)
  checkService(scope, 's3', refuse)
  checkScopeDate(scope, timestamp, refuse)
  const claimed = field('signature')
  const policy = signedPolicy(fields)
  const { credentials, nowMs } = rules
  const session = sessionOf(fields, rules, scope.accessKeyId)
  const signer = session?.signer(scope) ?? credentials.signer(scope)
  const matches = sameSignature(signature(signer.key, policy), claimed)
  if (signer.principal === undefined) throw unknownAccessKey(scope.accessKeyId)
  if (!matches) throw mismatch(scope.accessKeyId, policy, claimed)
  session?.checkTime(nowMs)
  return signer.principal
}

function verifyVersion2(fields: FormFields, rules: FormRules): Principal {
  const accessKeyId = required(fields, 'awsaccesskeyid', 'AWSAccessKeyId')
  const claimed = required(fields, 'signature')
  if (accessKeyId.length > limits.credentialCharsMax) {
    throw new S3Error('AccessDenied', { message: 'The access key is too long.' })
  }
  const policy = signedPolicy(fields)
  const { credentials, nowMs } = rules
  const session = sessionOf(fields, rules, accessKeyId)
  const { principal, secretAccessKey } = session?.secret() ?? credentials.secretOf(accessKeyId)
  const matches = sameSignatureOfVersion2(signatureOfVersion2(secretAccessKey, policy), claimed)
  if (principal === undefined) throw unknownAccessKey(accessKeyId)
  if (!matches) throw mismatch(accessKeyId, policy, claimed)
  session?.checkTime(nowMs)
  return principal
}

/** The policy as sent, which both versions sign. Refuses text beyond ASCII, because the signed bytes and the parsed document would differ. */
function signedPolicy(fields: FormFields): string {
  const policy = required(fields, 'policy')
  if (/^[\x20-\x7e\r\n]*$/.test(policy)) return policy
  throw new S3Error('InvalidPolicyDocument', { message: 'Invalid Policy: Invalid Base64 Encoding.' })
}

function required(fields: FormFields, name: string, spelled = name): string {
  const value = fields.get(name)
  if (value !== undefined) return value
  const message = `Bucket POST must contain a field named '${spelled}'.  If it is specified, please check the order of the fields.`
  throw invalidArgument(spelled, '', message)
}

function mismatch(accessKeyId: string, policy: string, claimed: string): S3Error {
  const holdsSecret = /-customer-key/i.test(Buffer.from(policy, 'base64').toString('latin1'))
  const StringToSign = holdsSecret ? '' : policy
  return new S3Error('SignatureDoesNotMatch', {
    details: { AWSAccessKeyId: accessKeyId, StringToSign, SignatureProvided: claimed },
  })
}
