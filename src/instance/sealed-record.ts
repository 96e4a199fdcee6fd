/** Records of the server itself in the metadata, apart from what clients store: JSON behind a checksum over key and value. */
import { crc32 } from 'node:zlib'
import type { z } from 'zod'
import type { Key, Kv, Version } from '../kv/kv.ts'
import { packKey } from '../kv/ordered-key.ts'

/** Records under this prefix belong to the server, not to clients, and survive a reset. */
export const systemPrefix = packKey('s')

export interface SystemRecord<T> {
  key: Key
  seal(value: T): Buffer
  /** Throws when the bytes are not what was sealed. */
  open(bytes: Buffer): T
}

/** `name`: several words where there are many records of a kind. */
export function systemRecord<T>(name: string | readonly string[], schema: z.ZodType<T>): SystemRecord<T> {
  const words = [name].flat()
  const key = packKey('s', ...words)
  const sum = (json: string): string => sumOf(key, json)
  return {
    key,
    seal: (value) => {
      const json = JSON.stringify(value)
      return Buffer.from(sum(json) + json)
    },
    open: (bytes) => {
      const text = bytes.toString()
      const json = text.slice(8)
      if (text.slice(0, 8) !== sum(json)) throw new Error(`the ${words.join(' ')} record of the metadata is damaged`)
      return schema.parse(JSON.parse(json))
    },
  }
}

function sumOf(key: Key, json: string | Buffer): string {
  return crc32(json, crc32(key)).toString(16).padStart(8, '0')
}

/** Whether the bytes are what was sealed under the key. */
export function isSealed(key: Key, bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 8) === sumOf(key, bytes.subarray(8))
}

/** The record's value, and the version that a commit checks. */
export async function readRecord<T>(
  kv: Kv,
  record: SystemRecord<T>,
): Promise<{ value: T; version: Version } | undefined> {
  const [entry] = await kv.get([record.key])
  return entry === undefined ? undefined : { value: record.open(entry.value), version: entry.version }
}
