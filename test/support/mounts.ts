/** File systems of their own for tests: small, in memory, where the machine lets them be mounted. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the name of a test says that is skipped without. */
export const mayMount = tryMount((path) => mountMemory(path, 1))
export const mayMountExt4 = tryMount((path) => mountExt4(path, 8))

/** On top of what is mounted there already. `mebibytes`: all that fits. */
export function mountMemory(path: string, mebibytes: number): void {
  mkdirSync(path, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path], { stdio: 'pipe' })
}

/** The same on ext4, in a file. */
export function mountExt4(path: string, mebibytes: number): void {
  mkdirSync(path, { recursive: true })
  const image = `${path}.image`
  writeFileSync(image, '')
  truncateSync(image, mebibytes * 1024 * 1024)
  execFileSync('mkfs.ext4', ['-q', '-F', image], { stdio: 'pipe' })
  execFileSync('mount', ['-o', 'loop', image, path], { stdio: 'pipe' })
}

export function remount(path: string, options: string): void {
  execFileSync('mount', ['-o', `remount,${options}`, path], { stdio: 'pipe' })
}

/** Away at once, whoever has files of it open. */
export function unmountLazily(path: string): void {
  execFileSync('umount', ['-l', path], { stdio: 'pipe' })
}

function tryMount(mount: (path: string) => void): boolean {
  if (process.platform !== 'linux') return false
  const root = mkdtempSync(join(tmpdir(), 'holdfast-mount-'))
  const path = join(root, 'mounted')
  try {
    mount(path)
    unmountLazily(path)
    return true
  } catch {
    return false
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
