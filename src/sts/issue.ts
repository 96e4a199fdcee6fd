/** Issues temporary keys: generates them and seals their session. Decides nothing. */
import { type Session, sealSession } from '../auth/session-token.ts'
import { limits } from '../limits.ts'
import type { StsContext } from './action.ts'
import { StsError } from './sts-error.ts'

/** Temporary keys as the answer shows them, once. */
export interface IssuedKeys {
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string
  expiresMs: number
}

/** A session before it gets its keys and its time of issue. */
export type NewSession = Omit<Session, 'accessKeyId' | 'secretAccessKey' | 'issuedMs'>

/** Throws PackedPolicyTooLarge. */
export async function issueKeys(
  session: NewSession,
  { keys, clock }: Pick<StsContext, 'keys' | 'clock'>,
): Promise<IssuedKeys> {
  await keys.refresh()
  const accessKeyId = `${temporaryPrefix}${base32(clock.random(accessKeyBytes))}`
  const secretAccessKey = clock.random(secretBytes).toString('base64')
  const whole = { ...session, accessKeyId, secretAccessKey, issuedMs: clock.now() }
  const sessionToken = sealSession(whole, keys, (bytes) => clock.random(bytes))
  if (sessionToken.length > limits.sessionTokenCharsMax) {
    throw new StsError(
      'PackedPolicyTooLarge',
      'The session policy and the claims of the identity are too large together.',
    )
  }
  return { accessKeyId, secretAccessKey, sessionToken, expiresMs: session.expiresMs }
}

/** AWS's prefix of temporary keys. */
const temporaryPrefix = 'ASIA'
const accessKeyBytes = 10
const secretBytes = 30
const base32Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Five bits a character. */
function base32(bytes: Buffer): string {
  let bits = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let left = (bytes.length * 8) / 5; left > 0; left--) {
    text = base32Digits.charAt(Number(bits & 31n)) + text
    bits >>= 5n
  }
  return text
}
