/** Shapes of XML documents: one description from which reading, writing and types derive. */
import { S3Error } from '../errors.ts'
import { isoTime } from '../time-text.ts'
import { type Support, works } from './support.ts'
import { httpInstant, isoInstant, type Parser } from './values.ts'

export interface TextShape<T = unknown> {
  kind: 'text'
  parse: Parser<T>
  // A method, so that a shape of any T is a Shape. The writer passes `print` only values of the shape's own type.
  print(value: T): string
  /** The printed text never contains a character that XML escapes. */
  plain?: boolean
  /** Markup before and after the printed text. */
  around?: string
}

export interface StructShape<F extends Record<string, Shape> = Record<string, Shape>> {
  kind: 'struct'
  /** Shapes by element name. Written in this order, read in any. An unlisted element is MalformedXML. */
  fields: F
}

/** A repeated element. Read as an empty list when there is none. */
export interface ListShape<S extends Shape = Shape> {
  kind: 'list'
  item: S
}

/** A list of elements with different names, each with its own shape. Never read. The struct's field name does not appear in the document. */
export interface MixedShape<F extends Record<string, Shape> = Record<string, Shape>> {
  kind: 'mixed'
  elements: F
}

/** An element that can be absent. */
export interface OptionalShape<S extends Shape = Shape> {
  kind: 'optional'
  of: S
  /** How far the element works when it is sent. A refused one is read too, and the handler refuses it. */
  support: Support
}

/** A struct's field in the start tag of its element, with a prefixed name: `xsi:type`. */
export interface AttributeShape<T = unknown> {
  kind: 'attribute'
  text: TextShape<T>
  /** The namespace of the prefix. Written with the attribute; reading looks only at the prefix. */
  namespace: string
}

/** An element that S3 knows and this server refuses: reading it throws NotImplemented with its path. Never written. */
export interface RefusedShape {
  kind: 'refused'
}

export type Shape = TextShape | StructShape | ListShape | MixedShape | OptionalShape | AttributeShape | RefusedShape

type MayBeAbsent = OptionalShape | RefusedShape

/** The TypeScript type of a shape's values; `unknown` for `Shape` itself. */
export type Infer<S extends Shape> = Shape extends S ? unknown : InferKnown<S>

type InferKnown<S extends Shape> =
  S extends TextShape<infer T>
    ? T
    : S extends AttributeShape<infer A>
      ? A
      : S extends RefusedShape
        ? undefined
        : S extends ListShape<infer I>
          ? Infer<I>[]
          : S extends MixedShape<infer M>
            ? { [K in keyof M]: { element: K; value: Infer<M[K]> } }[keyof M][]
            : S extends OptionalShape<infer O>
              ? Infer<O> | undefined
              : S extends StructShape<infer F>
                ? { [K in keyof F as F[K] extends MayBeAbsent ? never : K]: Infer<F[K]> } & {
                    [K in keyof F as F[K] extends MayBeAbsent ? K : never]?: Infer<F[K]>
                  }
                : never

const malformed = (name: string): S3Error => new S3Error('MalformedXML', { details: { Element: name } })

export const string: TextShape<string> = { kind: 'text', parse: (raw) => raw, print: (value) => value }

/** An entity tag, without the quotes that documents put around it. It is hexadecimal, so `plain` saves the escaping, a thousand times in a listing. */
export const entityTag: TextShape<string> = {
  kind: 'text',
  parse: (raw) => raw.trim().replace(/^"(.*)"$/, '$1'),
  print: (tag) => tag,
  plain: true,
  around: '&quot;',
}

export const integer: TextShape<number> = {
  kind: 'text',
  parse: (raw, name) => {
    if (!/^-?\d{1,15}$/.test(raw.trim())) throw malformed(name)
    return Number(raw.trim())
  },
  print: String,
  plain: true,
}

export const boolean: TextShape<boolean> = {
  kind: 'text',
  parse: (raw, name) => {
    const lower = raw.trim().toLowerCase()
    if (lower !== 'true' && lower !== 'false') throw malformed(name)
    return lower === 'true'
  },
  print: String,
  plain: true,
}

/** Milliseconds since the epoch, read as ISO 8601 with a zone, written in UTC with milliseconds. */
export const timestamp: TextShape<number> = {
  kind: 'text',
  parse: (raw, name) => {
    const ms = isoInstant(raw.trim())
    if (ms === undefined) throw malformed(name)
    return ms
  },
  print: isoTime,
  plain: true,
}

/** Milliseconds since the epoch, as an HTTP date. */
export const httpTime: TextShape<number> = {
  kind: 'text',
  parse: (raw, name) => {
    const ms = httpInstant(raw.trim())
    if (ms === undefined) throw malformed(name)
    return ms
  },
  print: (ms) => new Date(ms).toUTCString(),
  plain: true,
}

export function oneOf<const T extends string>(...allowed: T[]): TextShape<T> {
  return {
    kind: 'text',
    parse: (raw, name) => {
      const found = allowed.find((value) => value === raw)
      if (found === undefined) throw malformed(name)
      return found
    },
    print: (value) => value,
  }
}

export function struct<F extends Record<string, Shape>>(fields: F): StructShape<F> {
  return { kind: 'struct', fields }
}

export function list<S extends Shape>(item: S): ListShape<S> {
  return { kind: 'list', item }
}

export function mixed<F extends Record<string, Shape>>(elements: F): MixedShape<F> {
  return { kind: 'mixed', elements }
}

export function optional<S extends Shape>(of: S, support: Support = works): OptionalShape<S> {
  return { kind: 'optional', of, support }
}

/** An element that S3 writes only in cases that never occur here. It is declared so that the support table can say why it is absent. */
export function absentElement(absentUnless: string): OptionalShape<TextShape<never>> {
  return optional(
    {
      ...string,
      parse: (_, name) => {
        throw malformed(name)
      },
    },
    { here: 'works', absentUnless },
  )
}

/** An element that is read, and that the operation's handler refuses by name, for instance to refuse only one entry of several. */
export function refusedByHandler<S extends Shape>(of: S): OptionalShape<S> {
  return optional(of, refusedHere)
}

export function attribute<T>(text: TextShape<T>, namespace: string): AttributeShape<T> {
  return { kind: 'attribute', text, namespace }
}

export const refusedElement: RefusedShape = { kind: 'refused' }

const refusedHere: Support = { here: 'refused', refusal: 'NotImplemented' }

/** One element of a shape. */
export interface ShapeElement {
  /** From the root, with slashes; an attribute has an @ before its name. */
  path: string
  /** The element contains other elements rather than text. */
  container: boolean
  required: boolean
  support: Support
}

/** The elements of a document: the root and everything below it, each parent before its children. */
export function elementsOf(root: string, shape: Shape): ShapeElement[] {
  return elementsAt(root, shape, { required: true, support: works })
}

function elementsAt(path: string, shape: Shape, how: Pick<ShapeElement, 'required' | 'support'>): ShapeElement[] {
  // Everything in a refused element is refused too.
  const within = (support: Support): Support => (how.support.here === 'refused' ? how.support : support)
  switch (shape.kind) {
    case 'text':
    case 'attribute':
      return [{ path, container: false, ...how }]
    case 'refused':
      return [{ path, container: false, required: false, support: refusedHere }]
    case 'list':
      return elementsAt(path, shape.item, { ...how, required: false })
    case 'optional':
      return elementsAt(path, shape.of, { required: false, support: within(shape.support) })
    case 'mixed':
      return Object.entries(shape.elements).flatMap(([name, field]) =>
        elementsAt(`${path}/${name}`, field, { ...how, required: false }),
      )
    case 'struct':
      return [
        { path, container: true, ...how },
        ...Object.entries(shape.fields).flatMap(([name, field]) =>
          field.kind === 'mixed'
            ? elementsAt(path, field, { required: false, support: within(works) })
            : elementsAt(`${path}/${field.kind === 'attribute' ? '@' : ''}${name}`, field, {
                required: how.required,
                support: within(works),
              }),
        ),
      ]
  }
}
