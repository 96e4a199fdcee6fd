/** Facts about where a run was made, and room for its files. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { version } from '../src/version.ts'
import type { Machine } from './results.ts'

/** https://man7.org/linux/man-pages/man2/statfs.2.html */
const fileSystems: Readonly<Record<number, string>> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  16914836: 'tmpfs',
  801189825: 'zfs',
  2035054128: 'overlayfs',
}

export function describeMachine(directory: string): Machine {
  const type = Number(statfsSync(directory).type)
  return {
    measured: new Date().toISOString(),
    version,
    node: process.version,
    kernel: release(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    fileSystem: fileSystems[type] ?? `type 0x${type.toString(16)}`,
  }
}

/** A new directory under `parent`, which goes with all that is in it after `use`. */
export async function withScratch<T>(parent: string, use: (directory: string) => Promise<T>): Promise<T> {
  mkdirSync(parent, { recursive: true })
  const directory = mkdtempSync(join(resolve(parent), 'holdfast-bench-'))
  const remove = (): void => rmSync(directory, { recursive: true, force: true })
  // Also when it is interrupted.
  process.once('exit', remove)
  try {
    return await use(directory)
  } finally {
    process.off('exit', remove)
    remove()
  }
}

/** What files take on disk: blocks that are allocated, however long the files say they are. */
export function bytesOnDisk(directory: string): number {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const sizes = names.map((name) => statSync(join(directory, name), { throwIfNoEntry: false })?.blocks ?? 0)
  return sizes.reduce((sum, blocks) => sum + blocks * 512, 0)
}

/** Writes out what earlier work left in the page cache, so that later work does not pay for it. */
export function settleDisk(): void {
  execFileSync('sync')
}
