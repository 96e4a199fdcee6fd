/** Packs objects into bytes, as declared field by field. Each field takes a bit that says whether it is present; a usual value takes only that bit. Pure. */
import type { PackReader, PackWriter } from './packed-bytes.ts'

/** How a value becomes bytes. */
export interface Packed<T> {
  write(writer: PackWriter, value: T): void
  read(reader: PackReader): T
  /** The value that an absent field stands for, so it need not be written. */
  readonly usual?: Usual<T>
}

interface Usual<T> {
  is(value: T): boolean
  value(): T
}

type Present<T> = Exclude<T, undefined>

/** Fields in the order of their bits and bytes. Append only: older bytes have no bits for later fields. At most 30. */
export type PackedFields<T> = { readonly [Field in keyof Required<T>]: Packed<Present<T[Field]>> }

/** Consecutive fields: the object's own, or those of the object in its field `of`, packed as if they were its own. */
type Run<T> =
  | { of?: undefined; fields: Partial<PackedFields<T>> }
  | { [Name in keyof T]-?: { of: Name; fields: Partial<PackedFields<Present<T[Name]>>> } }[keyof T]

/**
 * Packs an object: a number whose bits say which fields are present, lowest first, in one byte for every seven fields; then the fields. Reading throws on bits
 * without a known field, and when a `needed` field is absent.
 */
export function packedObject<T extends object>(fields: PackedFields<T>, needed?: readonly (keyof T)[]): Packed<T> {
  return packedRuns<T>([{ fields }], needed)
}

type Holder = Record<PropertyKey, unknown>

/** The same for an object whose fields are declared in runs. Also append only: add fields to the last run, or add another run. */
export function packedRuns<T extends object>(
  declared: readonly Run<T>[],
  needed: readonly (keyof T)[] = [],
): Packed<T> {
  const runs = declared.map(({ of, fields }) => ({ of, fields: namedFields(fields) }))
  const bitsBytes = Math.ceil(runs.reduce((sum, { fields }) => sum + fields.length, 0) / 7)
  return {
    write(writer, value) {
      const gap = writer.gap(bitsBytes)
      let bits = 0
      let bit = 1
      for (const { of, fields } of runs) {
        const holder = (of === undefined ? value : value[of]) as Holder
        for (const [name, field] of fields) {
          const given = holder[name]
          if (given !== undefined && field.usual?.is(given) !== true) {
            field.write(writer, given)
            bits |= bit
          }
          bit <<= 1
        }
      }
      writer.fill(gap, bitsBytes, bits)
    },
    read(reader) {
      const value: Holder = {}
      let bits = reader.number()
      for (const { of, fields } of runs) {
        if (of !== undefined) value[of] ??= {}
        const holder = of === undefined ? value : (value[of] as Holder)
        for (const [name, field] of fields) {
          if (bits % 2 === 1) holder[name] = field.read(reader)
          else if (field.usual !== undefined) holder[name] = field.usual.value()
          bits = Math.floor(bits / 2)
        }
      }
      if (bits > 0) throw new Error('packed bytes have a field that is not known')
      for (const name of needed) if (value[name] === undefined) throw new Error('packed bytes lack a field')
      return value as T
    },
  }
}

const namedFields = (fields: object): [string, Packed<unknown>][] => Object.entries(fields)

export const number: Packed<number> = {
  write: (writer, value) => writer.number(value),
  read: (reader) => reader.number(),
}

export const text: Packed<string> = {
  write: (writer, value) => writer.text(value),
  read: (reader) => reader.text(),
}

export const hex: Packed<string> = { write: (writer, value) => writer.hex(value), read: (reader) => reader.hex() }

export const base64: Packed<string> = {
  write: (writer, value) => writer.base64(value),
  read: (reader) => reader.base64(),
}

export const flag: Packed<boolean> = {
  write: (writer, value) => writer.number(value ? 1 : 0),
  read: (reader) => reader.number() === 1,
}

/** A field whose bit is its only content. */
export const present: Packed<true> = { write: () => {}, read: () => true }

/** One of the names, stored as its position in the list. The list is append only. */
export function oneOf<const T extends string>(names: readonly T[]): Packed<T> {
  return {
    write: (writer, value) => writer.number(names.indexOf(value)),
    read(reader) {
      const name = names[reader.number()]
      if (name === undefined) throw new Error('packed bytes have a name that is not known')
      return name
    },
  }
}

export function listOf<T>(item: Packed<T>): Packed<readonly T[]> {
  return {
    write(writer, values) {
      writer.number(values.length)
      for (const value of values) item.write(writer, value)
    },
    read(reader) {
      const values: T[] = []
      for (let left = reader.number(); left > 0; left--) values.push(item.read(reader))
      return values
    },
    usual: { is: (values) => values.length === 0, value: () => [] },
  }
}

const pairs = listOf<readonly [string, string]>({
  write(writer, [name, value]) {
    writer.text(name)
    writer.text(value)
  },
  read: (reader) => [reader.text(), reader.text()],
})

export const texts: Packed<Readonly<Record<string, string>>> = {
  write: (writer, record) => pairs.write(writer, Object.entries(record)),
  read: (reader) => Object.fromEntries(pairs.read(reader)),
  usual: { is: isEmpty, value: () => ({}) },
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false
  return true
}

/** A field that most objects have with this `value`, which is not written. */
export function usually<T extends string>(field: Packed<T>, value: NoInfer<T>): Packed<T> {
  return { ...field, usual: { is: (other) => other === value, value: () => value } }
}

/** An object that is not written when all its fields are absent. */
export function perhapsEmpty<T extends object>(object: Packed<T>, empty: T): Packed<T> {
  return { ...object, usual: { is: hasNoFields, value: () => empty } }
}

function hasNoFields(record: object): boolean {
  for (const name in record) if (record[name as keyof typeof record] !== undefined) return false
  return true
}

/** Remembers the bytes of each record for as long as the record lives. Records must not change. */
export function remembered<T extends object>(record: Packed<T>): Packed<T> {
  const bytes = new WeakMap<T, Buffer>()
  return {
    ...record,
    write(writer, value) {
      const known = bytes.get(value)
      if (known !== undefined) return writer.bytes(known)
      const from = writer.length
      record.write(writer, value)
      bytes.set(value, writer.written(from))
    },
  }
}
