/** Makes the directory entries on the way to a file durable. */
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'

export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** `from` and each directory above it, up to `upTo`. */
export async function syncDirectories(from: string, upTo: string): Promise<void> {
  for (let directory = from; ; directory = dirname(directory)) {
    await syncDirectory(directory)
    if (directory === upTo) return
  }
}
