/** AssumeRole: temporary keys of the caller, restricted by a session policy. https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html */
import type { StsAction } from './action.ts'
import { issueKeys } from './issue.ts'
import { checkLength, optionalText, readDuration, refuseParameters } from './parameters.ts'
import {
  arnOf,
  assumedRoleUser,
  checkRoleArn,
  holderOf,
  packedSize,
  readSessionName,
  readSessionPolicy,
  shownKeys,
  userIdOf,
} from './session-parts.ts'
import { StsError } from './sts-error.ts'

/** Refused because the server does not enforce what these parameters ask for. */
const refused = [
  'PolicyArns',
  'ProvidedContexts',
  'SerialNumber',
  'SourceIdentity',
  'Tags',
  'TokenCode',
  'TransitiveTagKeys',
]

const duration = { min: 900, max: 43_200, initial: 3600 }

export const assumeRole: StsAction = {
  name: 'AssumeRole',
  authentication: 'signed',
  errors: ['MalformedPolicyDocument', 'PackedPolicyTooLarge'],
  handle: async (context, caller, parameters) => {
    caller.refuseDenied('sts:AssumeRole')
    refuseParameters(parameters, refused)
    checkRoleArn(parameters)
    // A role's trust policy could require this id. There are no roles, so it is only checked for its form.
    const externalId = optionalText(parameters, 'ExternalId')
    if (externalId !== undefined) checkLength('ExternalId', externalId, 2, 1224)
    const name = readSessionName(parameters)
    const policy = readSessionPolicy(parameters)
    const seconds = readDuration(parameters, duration)
    const { principal } = caller
    const { accountId, session } = principal
    if (policy !== undefined && session?.policy !== undefined) {
      throw new StsError('AccessDenied', 'Temporary keys that a session policy narrows cannot be narrowed again.')
    }
    const { holder, untilMs } = holderOf(principal, context)
    const issued = await issueKeys(
      {
        accountId,
        holder,
        kind: 'assumed-role',
        name: name ?? session?.name,
        policy: policy ?? session?.policy,
        claims: session?.claims && Object.fromEntries(session.claims),
        expiresMs: Math.min(context.clock.now() + seconds * 1000, untilMs),
      },
      context,
    )
    return {
      Credentials: shownKeys(issued),
      AssumedRoleUser: assumedRoleUser(arnOf(principal), userIdOf(principal), name),
      ...packedSize(policy),
    }
  },
}
