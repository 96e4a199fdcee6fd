/** Where in a policy something stands, for the errors that name it. */
import { S3Error } from '../errors.ts'
import type { Json } from './policy-json.ts'

/** A statement and its element. Both missing: the document itself. */
export interface PolicyPlace {
  /** The Sid, or `#2`. */
  readonly statement?: string | undefined
  readonly element?: string | undefined
}

/** Long values are cut, since the message goes back to the client. */
const shownCharsMax = 128

/** MalformedPolicy. `what` is S3's own text where it has one. */
export function malformed(what: string, place: PolicyPlace = {}, value?: string): S3Error {
  const where = [
    ...(place.statement === undefined ? [] : [`statement ${statementText(place.statement)}`]),
    ...(place.element === undefined ? [] : [place.element]),
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

/** One string, or a list of at least one. */
export function stringsOf(value: Json | undefined, place: PolicyPlace): readonly string[] {
  const list = Array.isArray(value) ? value : [value]
  if (list.length === 0) throw malformed('The element has no value', place)
  return list.map((item) => {
    if (typeof item !== 'string') throw malformed('The element must be a string, or a list of strings', place)
    return item
  })
}
