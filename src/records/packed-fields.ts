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

interface NamedField<T> {
  name: keyof T
  field: Packed<Present<T[keyof T]>>
  usual: Usual<Present<T[keyof T]>> | undefined
}

/**
 * An object: bits of what is there, lowest first, as a number that takes a byte for every seven fields; then that. Refuses to read bits that it knows
 * no field for, and what lacks a field that is `needed`.
 */
export function packedObject<T extends object>(
  declared: PackedFields<T>,
  needed: readonly (keyof T)[] = [],
): Packed<T> {
  const fields: NamedField<T>[] = []
  for (const name in declared) fields.push({ name, field: declared[name], usual: declared[name].usual })
  const bitsBytes = Math.ceil(fields.length / 7)
  return {
    write(writer, value) {
      const gap = writer.gap(bitsBytes)
      let bits = 0
      let bit = 1
      for (const { name, field, usual } of fields) {
        const given = value[name] as Present<T[keyof T]> | undefined
        if (given !== undefined && (usual === undefined || !usual.is(given))) {
          field.write(writer, given)
          bits |= bit
        }
        bit <<= 1
      }
      writer.fill(gap, bitsBytes, bits)
    },
    read(reader) {
      const value: Partial<T> = {}
      let bits = reader.number()
      for (const { name, field, usual } of fields) {
        if (bits % 2 === 1) value[name] = field.read(reader)
        else if (usual !== undefined) value[name] = usual.value()
        bits = Math.floor(bits / 2)
      }
      if (bits > 0) throw new Error('packed bytes have a field that is not known')
      for (const name of needed) if (value[name] === undefined) throw new Error('packed bytes lack a field')
      return value as T
    },
  }
}

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
