/** All file access of the stores. The interface is small, so that tests can inject faults, or the loss of unsynced data, into every call. */

export interface FileHandle {
  /** Reads at `position` into `buffer` and returns the number of bytes; fewer than asked only at the end of the file. */
  read(buffer: Uint8Array, position: number): Promise<number>
  /** Writes all of `buffers` one after the other from `position`, or rejects. */
  write(buffers: readonly Uint8Array[], position: number): Promise<void>
  /** Puts the data, and the metadata needed to read it back, on stable storage. After a rejection the file must not be trusted: never retry. */
  datasync(): Promise<void>
  size(): Promise<number>
  /** Whether the path still leads to this file and the file is unchanged since it was opened, as far as the file system can tell. For files opened to read. */
  isUnchanged(): Promise<boolean>
  truncate(size: number): Promise<void>
  /** A rejection counts as a failed write. */
  close(): Promise<void>
}

/**
 * `read`: must exist. `create`: must not exist (EEXIST), opened for reading and writing. `write`: must exist, for reading and writing. `create-synced`: like
 * `create`, but a write is on stable storage when it resolves, as if `datasync` followed; so a rejected write is like a rejected datasync.
 */
export type OpenMode = 'read' | 'create' | 'create-synced' | 'write'

export interface Fs {
  open(path: string, mode: OpenMode): Promise<FileHandle>
  /** Creates one directory; EEXIST when it exists. The caller must sync the parent. */
  mkdir(path: string): Promise<void>
  /** Earlier changes of the directory's entries (made, renamed, removed) are on stable storage when it resolves. */
  syncDirectory(path: string): Promise<void>
  /** Names in a directory, unordered. ENOENT when there is none. */
  list(path: string): Promise<string[]>
  stat(path: string): Promise<{ size: number; mtimeMs: number; isDirectory: boolean }>
  /** Whether `path` lies on a disk of this machine, so that looking up a file there takes no longer than asking another thread to do it. */
  isLocal(path: string): Promise<boolean>
  /** Throws where `stat` would reject. It blocks, so call it only for a local path. */
  requireThereNow(path: string): void
  /** Replaces the target atomically. */
  rename(from: string, to: string): Promise<void>
  /** A second name for a file; EEXIST when the name is taken. Not every file system supports it. */
  link(from: string, to: string): Promise<void>
  /** ENOENT when there is no such file. */
  unlink(path: string): Promise<void>
  /** Removes an empty directory. */
  rmdir(path: string): Promise<void>
  /** Bytes free for unprivileged writers on the file system that holds `path`. */
  freeBytes(path: string): Promise<number>
  /** Rejects as a write into the directory would, if that is known in advance: EROFS, EACCES. */
  requireWritable(path: string): Promise<void>
}
