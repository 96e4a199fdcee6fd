/** How far a header, a parameter or an element works, as its declaration says. */
import type { ErrorCode } from '../errors.ts'

export interface Support {
  /** What this server does with it. Refused: when it is present, the answer is an error that names it. */
  here: 'works' | 'refused'
  /** The values that work, when only some do. The others are refused. */
  only?: string
  /** The condition under which an answer carries it, which never holds here: `the bucket has lifecycle rules`. */
  absentUnless?: string
  /** The error when it is refused, or for a value that does not work. */
  refusal?: ErrorCode
  /** The first version that does so; absent: the first of all. */
  since?: string
}

export const works: Support = { here: 'works' }

/** The version since which everything exists, unless stated otherwise. */
export const firstVersion = '0.1.0'
