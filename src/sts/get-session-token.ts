/** GetSessionToken: temporary keys that may do what the caller may. https://docs.aws.amazon.com/STS/latest/APIReference/API_GetSessionToken.html */
import type { StsAction } from './action.ts'
import { issueKeys } from './issue.ts'
import { readDuration, refuseParameters } from './parameters.ts'
import { holderOf, shownKeys } from './session-parts.ts'
import { StsError } from './sts-error.ts'

/** Refused because the server does not check a second factor, and AWS accepts no policy here either. */
const refused = ['Policy', 'PolicyArns', 'SerialNumber', 'TokenCode']

const duration = { min: 900, max: 129_600, initial: 43_200 }

export const getSessionToken: StsAction = {
  name: 'GetSessionToken',
  authentication: 'signed',
  errors: [],
  handle: async (context, caller, parameters) => {
    const { principal } = caller
    if (principal.session !== undefined) {
      throw new StsError('AccessDenied', 'Cannot call GetSessionToken with session credentials')
    }
    caller.refuseDenied('sts:GetSessionToken')
    refuseParameters(parameters, refused)
    const seconds = readDuration(parameters, duration)
    const { holder, untilMs } = holderOf(principal, context)
    const issued = await issueKeys(
      {
        accountId: principal.accountId,
        holder,
        kind: 'session-token',
        expiresMs: Math.min(context.clock.now() + seconds * 1000, untilMs),
      },
      context,
    )
    return { Credentials: shownKeys(issued) }
  },
}
