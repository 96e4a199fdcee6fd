/** File systems of their own for tests: small, in memory, where the machine lets them be mounted. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the name of a test says that is skipped without. */
export const mayMount = tryMount()

/** On top of what is mounted there already. `mebibytes`: all that fits. */
export function mountMemory(path: string, mebibytes: number): void {
  mkdirSync(path, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path], { stdio: 'pipe' })
}

export function remount(path: string, options: string): void {
  execFileSync('mount', ['-o', `remount,${options}`, path], { stdio: 'pipe' })
}

/** Away at once, whoever has files of it open. */
export function unmountLazily(path: string): void {
  execFileSync('umount', ['-l', path], { stdio: 'pipe' })
}

function tryMount(): boolean {
  if (process.platform !== 'linux') return false
  const path = mkdtempSync(join(tmpdir(), 'holdfast-mount-'))
  try {
    mountMemory(path, 1)
    unmountLazily(path)
    return true
  } catch {
    return false
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}
