/** The reason of a decision in words, for the log and `holdfast access explain`. */
import type { Reason } from './decide.ts'
import { statementText } from './parsing/policy-part.ts'

/** `Deny by statement "Lock" of the bucket policy`. */
export function reasonText(because: Reason): string {
  switch (because.by) {
    case 'statement': {
      const policy = because.name === undefined ? '' : ` ${because.name}`
      return `${because.effect} by statement ${statementText(because.statement)} of the ${because.policy} policy${policy}`
    }
    case 'owner':
      return 'the key is the account\u2019s own, and nothing denies it'
    case 'grant':
      return `${because.permission} of the ${because.of} is granted to ${because.to}`
    case 'initiator':
      return 'the account began the upload'
    case 'public access block':
      return 'the bucket policy is public, and the public access block restricts it to the bucket owner\u2019s account'
    case 'unconfirmed bucket':
      return 'the bucket was recovered, perhaps without all that guarded it: it admits only its owner\u2019s own key until `holdfast access confirm BUCKET`'
    case 'default':
      return because.missing === 'bucket policy or grant'
        ? 'no bucket policy or grant allows it'
        : `no ${because.missing} allows it`
  }
}
