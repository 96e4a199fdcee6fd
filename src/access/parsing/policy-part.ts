/** The part of a policy that an error names. */
import { S3Error } from '../../errors.ts'
import type { Json } from './policy-json.ts'

/** A statement and its element. Without both, the document itself. */
export interface PolicyPart {
  /** The Sid, or `#2`. */
  readonly statement?: string | undefined
  readonly element?: string | undefined
}

/** Longer values are cut, because the message goes back to the client. */
const shownCharsMax = 128

/** Makes a MalformedPolicy. `what` is S3's own text where S3 has one. */
export function malformed(what: string, part: PolicyPart = {}, value?: string): S3Error {
  const where = [
    ...(part.statement === undefined ? [] : [`statement ${statementText(part.statement)}`]),
    ...(part.element === undefined ? [] : [part.element]),
  ].join(', ')
  const shown = value === undefined ? '' : `${where === '' ? '' : ' '}"${shorten(value)}"`
  return new S3Error('MalformedPolicy', { message: where + shown === '' ? what : `${what}: ${where}${shown}` })
}

/** `#2`, or the Sid in quotes. */
export function statementText(name: string): string {
  return name.startsWith('#') ? name : `"${shorten(name)}"`
}

function shorten(text: string): string {
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text
}

/** Accepts one string, or a list of at least one. */
export function stringsOf(value: Json | undefined, part: PolicyPart): readonly string[] {
  const list = Array.isArray(value) ? value : [value]
  if (list.length === 0) throw malformed('The element has no value', part)
  return list.map((item) => {
    if (typeof item !== 'string') throw malformed('The element must be a string, or a list of strings', part)
    return item
  })
}
