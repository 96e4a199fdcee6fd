/**
 * AssumeRoleWithWebIdentity: temporary keys for a user whom an OpenID Connect issuer signed in, with the policies that the token names.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
 */
import { webUser } from '../auth/sessions.ts'
import type { StsAction } from './action.ts'
import { issueKeys } from './issue.ts'
import { checkLength, readDuration, refuseParameters, requiredText } from './parameters.ts'
import {
  arnOf,
  assumedRoleUser,
  checkRoleArn,
  packedSize,
  readSessionName,
  readSessionPolicy,
  shownKeys,
} from './session-parts.ts'
import { webHolder } from './web-holder.ts'

const refused = ['PolicyArns', 'ProviderId']

const duration = { min: 900, max: 43_200, initial: 3600 }
const tokenCharsMax = 20_000

export const assumeRoleWithWebIdentity: StsAction = {
  name: 'AssumeRoleWithWebIdentity',
  authentication: 'web identity',
  errors: [
    'ExpiredTokenException',
    'IDPCommunicationError',
    'IDPRejectedClaim',
    'InvalidIdentityToken',
    'MalformedPolicyDocument',
    'PackedPolicyTooLarge',
  ],
  handle: async ({ clock, keys, credentials, webIdentities }, parameters) => {
    refuseParameters(parameters, refused)
    checkRoleArn(parameters)
    const name = readSessionName(parameters)
    const policy = readSessionPolicy(parameters)
    const seconds = readDuration(parameters, duration)
    const token = checkLength('WebIdentityToken', requiredText(parameters, 'WebIdentityToken'), 4, tokenCharsMax)
    const identity = await webIdentities.verify(token)
    const { provider, subject, audience, expiresMs, claims } = identity
    const accountId = provider.account
    const holder = webHolder(identity, credentials)
    const issued = await issueKeys(
      {
        accountId,
        holder,
        kind: 'web-identity',
        name,
        policy,
        claims,
        expiresMs: Math.min(clock.now() + seconds * 1000, expiresMs),
      },
      { keys, clock },
    )
    const user = webUser(provider.name, provider.issuer, subject)
    const arn = arnOf({ accountId, displayName: '', accessKeyId: '', user })
    return {
      Credentials: shownKeys(issued),
      SubjectFromWebIdentityToken: subject,
      AssumedRoleUser: assumedRoleUser(arn, user.id, name),
      Provider: provider.issuer,
      Audience: audience,
      ...packedSize(policy),
    }
  },
}
