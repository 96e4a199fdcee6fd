/** What a declaration says of how far something works: a header, a parameter, an element. */
import type { ErrorCode } from '../errors.ts'

export interface Support {
  /** What this server does with it. Refused: its presence is answered with an error that names it. */
  here: 'works' | 'refused'
  /** Where it works for some values only: which. The others are refused. */
  only?: string
  /** What an answer carries only when this holds, which it never does here: `the bucket has lifecycle rules`. */
  absentUnless?: string
  /** What is answered when it is refused, or to a value that does not work. */
  refusal?: ErrorCode
  /** The version that does so first; where none is given, the first of all. */
  since?: string
}

export const works: Support = { here: 'works' }

/** The version that everything is there since, unless it says otherwise. */
export const firstVersion = '0.1.0'
