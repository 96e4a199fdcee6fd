/** Describes failed file operations in plain words: what failed, why, and what to do. Pure. */

const doings: Record<string, string> = {
  access: 'reach',
  copyfile: 'copy',
  fstat: 'look at',
  fsync: 'sync',
  fdatasync: 'sync',
  lstat: 'look at',
  mkdir: 'make the directory',
  open: 'open',
  opendir: 'list',
  read: 'read',
  rename: 'rename',
  rm: 'remove',
  scandir: 'list',
  stat: 'look at',
  statfs: 'look at',
  unlink: 'remove',
  write: 'write',
}

const causes: Record<string, string> = {
  EACCES: 'permission denied. Give this user access, or run as the owner',
  EPERM: 'permission denied. Give this user access, or run as the owner',
  ENOENT: 'there is no such file or directory. Check the path, and whether its disk is mounted',
  ENOTDIR: 'a part of that path is a file, not a directory. Check the path',
  EISDIR: 'that is a directory, not a file. Check the path',
  EEXIST: 'something is there already. Name another path',
  ENOTEMPTY: 'that directory is not empty. Name another path',
  ELOOP: 'its symbolic links lead in a circle. Check the path',
  ENAMETOOLONG: 'that path is too long. Name a shorter one',
  EROFS: 'that file system is mounted read-only. Mount it for writing, or name another path',
  ENOSPC: 'no space is left on that device. Make room, or name another path',
  EDQUOT: "this user's quota is used up. Raise it, or make room",
  EMFILE: 'this process has too many files open. Raise its limit (`ulimit -n`)',
  ENFILE: 'the machine has too many files open. Raise its limit (`sysctl fs.file-max`)',
  EIO: 'the device failed. Look at the kernel log, and at the disk',
  ESTALE: 'the file server no longer knows it. Mount it again',
  ETXTBSY: 'it is in use as a program. Name another path',
  EBUSY: 'it is in use by the system. Name another path',
}

/** `undefined` for an error that is not a known file failure. `file`: named where the error names none, as that of a read. */
export function fileFailure(error: unknown, file = 'a file'): string | undefined {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return undefined
  const { code, syscall, path, dest } = error as NodeJS.ErrnoException & { dest?: string }
  const cause = causes[code ?? '']
  const doing = doings[syscall ?? '']
  if (cause === undefined || doing === undefined) return undefined
  const what = [path, dest].filter((name) => name !== undefined).join(' to ')
  return `cannot ${doing} ${what === '' ? file : what}: ${cause} (${code})`
}

/** One line for any error; a file failure is described as in `fileFailure`. */
export function failureText(error: unknown, file?: string): string {
  return fileFailure(error, file) ?? (error instanceof Error ? error.message : String(error))
}
