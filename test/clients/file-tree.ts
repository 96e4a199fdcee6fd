/** Files for clients to carry: names that trip encoders, and sizes on both sides of what clients send in parts. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { patternBytes } from '../support/seeded.ts'

const MiB = 1024 * 1024

const files: readonly [name: string, size: number][] = [
  ['empty', 0],
  ['plain.txt', 12],
  ['with space/and+plus.txt', 2000],
  ['percent%20/and#hash?.bin', 3000],
  ['Grüße/日本語/🦊.txt', 500],
  ['deep/er/and/deeper/file.json', 100],
  ['kilobytes.bin', 300_000],
  ['megabytes.bin', 20 * MiB + 17],
]

export async function writeTree(directory: string): Promise<void> {
  for (const [i, [name, size]] of files.entries()) {
    const path = join(directory, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, patternBytes(i + 1, size))
  }
}

export const treeSize = files.length
export const largeFile = 'megabytes.bin'

/** Every file below a directory, by its relative path. */
async function readTree(directory: string): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>()
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    found.set(path.slice(directory.length + 1), await readFile(path))
  }
  return found
}

/** The relative paths at which two directories differ. */
export async function treeDifferences(a: string, b: string): Promise<string[]> {
  const [left, right] = [await readTree(a), await readTree(b)]
  const names = new Set([...left.keys(), ...right.keys()])
  return [...names].filter((name) => !left.get(name)?.equals(right.get(name) ?? Buffer.from('absent')))
}
