/**
 * Tells whether a process still lives: while it does, it listens on a socket that the kernel takes away with it. Process ids would not do: two
 * containers that share a volume don't see each other's, and ids are used again. Knows nothing of what the process does.
 */
import { open, readdir, unlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ProofOfLife {
  /** Where the socket lies: what `livingProofs` needs to find it. */
  readonly directory: string
  end(): Promise<void>
}

const socketPathBytesMax = 100
const suffix = '.sock'

/** Lives until ended, or until this process does. `name` must be unique. Lies in the temporary directory when `directory` can't hold sockets. */
export async function proveLife(directory: string, name: string): Promise<ProofOfLife> {
  try {
    return await listen(directory, name)
  } catch (error) {
    if (directory === tmpdir()) throw error
    return await listen(tmpdir(), name)
  }
}

/** Names, with the given prefix, of processes that live. Whatever can't be told counts as living. */
export async function livingProofs(directory: string, prefix: string): Promise<string[]> {
  const living: string[] = []
  for (const name of await proofs(directory, prefix)) {
    if (await answers(directory, name)) living.push(name)
  }
  return living
}

/** Removes what dead processes left. Call only when `livingProofs` finds none. */
export async function clearProofs(directory: string, prefix: string): Promise<void> {
  for (const name of await proofs(directory, prefix)) {
    await unlink(join(directory, name + suffix)).catch(() => {})
  }
}

async function proofs(directory: string, prefix: string): Promise<string[]> {
  const files = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return files
    .filter((file) => file.startsWith(prefix) && file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length))
}

async function listen(directory: string, name: string): Promise<ProofOfLife> {
  const address = await socketAddress(directory, name)
  const server = createServer((socket) => socket.destroy())
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(address.path, resolve)
    })
  } catch (error) {
    await address.release()
    throw error
  }
  server.unref()
  return {
    directory,
    end: async () => {
      await closed(server)
      await address.release()
    },
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}

async function answers(directory: string, name: string): Promise<boolean> {
  const address = await socketAddress(directory, name)
  try {
    return await new Promise<boolean>((resolve) => {
      const socket = connect(address.path)
      socket.once('connect', () => {
        socket.destroy()
        resolve(true)
      })
      socket.once('error', (error: NodeJS.ErrnoException) => {
        resolve(!['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'].includes(error.code ?? ''))
      })
    })
  } finally {
    await address.release()
  }
}

/** A path of a socket may have some 100 bytes. On Linux a longer one is reached through a descriptor of its directory. */
async function socketAddress(directory: string, name: string): Promise<{ path: string; release(): Promise<void> }> {
  const path = join(directory, name + suffix)
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\${name}`, release: async () => {} }
  if (Buffer.byteLength(path) <= socketPathBytesMax || process.platform !== 'linux') {
    return { path, release: async () => {} }
  }
  const handle = await open(directory)
  return { path: `/proc/self/fd/${handle.fd}/${name}${suffix}`, release: () => handle.close() }
}
