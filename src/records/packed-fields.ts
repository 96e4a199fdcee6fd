/** Objects as bytes, declared field by field: which are there is one bit each, and what is as usual takes no more. Pure. */
import type { PackReader, PackWriter } from './packed-bytes.ts'

/** How a value becomes bytes. */
export interface Packed<T> {
  write(writer: PackWriter, value: T): void
  read(reader: PackReader): T
  /** A value that need not be written, as it is what is read where nothing is. */
  readonly usual?: Usual<T>
}

interface Usual<T> {
  is(value: T): boolean
  value(): T
}

type Present<T> = Exclude<T, undefined>

/** In the order in which they lie. Append only: bytes that were written before have no bit for what comes later. At most 30. */
export type PackedFields<T> = { readonly [Field in keyof Required<T>]: Packed<Present<T[Field]>> }

/** Fields in a row: the object's own, or those of an object within it, which lie as if they were its own. */
type Run<T> =
  | { of?: undefined; fields: Partial<PackedFields<T>> }
  | { [Name in keyof T]-?: { of: Name; fields: Partial<PackedFields<Present<T[Name]>>> } }[keyof T]

/**
 * An object: bits of what is there, lowest first, as a number that takes a byte for every seven fields; then that. Refuses to read bits that it knows
 * no field for, and what lacks a field that is `needed`.
 */
export function packedObject<T extends object>(fields: PackedFields<T>, needed?: readonly (keyof T)[]): Packed<T> {
  return packedRuns<T>([{ fields }], needed)
}

type Holder = Record<PropertyKey, unknown>

/** The same of an object whose fields are declared in runs. Append only, too: of the last run of each kind, or as another run. */
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

/** Its bit says it all. */
export const present: Packed<true> = { write: () => {}, read: () => true }

/** A place in the list, which is append only. */
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

/** What is read where nothing is: `value`, which most have. */
export function usually<T extends string>(field: Packed<T>, value: NoInfer<T>): Packed<T> {
  return { ...field, usual: { is: (other) => other === value, value: () => value } }
}

/** An object that may have nothing to say. */
export function perhapsEmpty<T extends object>(object: Packed<T>, empty: T): Packed<T> {
  return { ...object, usual: { is: saysNothing, value: () => empty } }
}

function saysNothing(record: object): boolean {
  for (const name in record) if (record[name as keyof typeof record] !== undefined) return false
  return true
}

/** The bytes of a record that does not change are remembered for as long as it is. */
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
