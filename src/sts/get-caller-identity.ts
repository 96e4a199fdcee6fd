/** GetCallerIdentity: who signs with this key. As in AWS, no policy can deny it. https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html */
import type { StsAction } from './action.ts'
import { arnOf, userIdOf } from './session-parts.ts'

export const getCallerIdentity: StsAction = {
  name: 'GetCallerIdentity',
  authentication: 'signed',
  errors: [],
  handle: (_context, { principal }) => ({
    Arn: arnOf(principal),
    UserId: userIdOf(principal),
    Account: principal.accountId,
  }),
}
