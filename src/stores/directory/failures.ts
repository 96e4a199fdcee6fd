/** What file system errors mean to a store. */
import { S3Error } from '../../errors.ts'
import { ShardDamaged, type ShardId, ShardMissing, StoreFull, StoreReadOnly } from '../shard-store.ts'

export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT'
}

/** Whether a reader's file is gone. On a network mount, a descriptor or a remembered name of a file that another host has removed or replaced leads nowhere (ESTALE). */
export function isRemoved(error: unknown): boolean {
  return isMissing(error) || codeOf(error) === 'ESTALE'
}

/** Whether the process has run out of a resource, not the disk. Nothing was attempted, and the shortage passes. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'EMFILE' || code === 'ENFILE'
}

/** The error that a caller of the store should see. */
export function storeFailure(error: unknown): unknown {
  const code = codeOf(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') return new StoreFull(`the file system has no room left (${code})`)
  if (isTransient(error)) return new S3Error('SlowDown', { cause: error })
  return error
}

/** The same for writes. */
export function writeFailure(error: unknown): unknown {
  const code = codeOf(error)
  if (code === 'EROFS') return new StoreReadOnly('its file system is read-only (EROFS)')
  if (code === 'EACCES' || code === 'EPERM') return new StoreReadOnly(`it may not be written to (${code})`)
  return storeFailure(error)
}

/** Resolves to `undefined` where there is no such file. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Resolves with `undefined` when the reader's file is gone, which another host may have removed. */
export async function unlessRemoved<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isRemoved(error)) return undefined
    throw error
  }
}

/** The error for a reader of the shard. A removed file is no damage, because the shard may lie elsewhere now. A sector that the disk can't read is damage. */
export function readFailure(id: ShardId, error: unknown): unknown {
  if (isRemoved(error)) return new ShardMissing(id)
  return codeOf(error) === 'EIO' ? new ShardDamaged(id, 'the disk cannot read it (EIO)') : storeFailure(error)
}
