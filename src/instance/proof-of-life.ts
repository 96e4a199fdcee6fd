/**
 * Tells whether a process is alive. A living process listens on a socket, which the kernel closes when the process dies. Process ids would not work,
 * because two containers that share a volume don't see each other's. A process makes a removed socket again. Knows nothing about what the process does.
 */
import { chmod, lstat, mkdtemp, open, readdir, rename, rm, unlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limits } from '../limits.ts'

export interface ProofOfLife {
  /** The directory of the socket: `livingProofs` needs it. */
  readonly directory: string
  end(): Promise<void>
}

const socketPathBytesMax = 100
const suffix = '.sock'

/** Creates a proof that lasts until `end`, or until this process dies. `name` must be unique. Uses the temporary directory if `directory` can't hold sockets. */
export async function proveLife(directory: string, name: string): Promise<ProofOfLife> {
  try {
    return await listen(directory, name)
  } catch (error) {
    if (directory === tmpdir()) throw error
    return await listen(tmpdir(), name)
  }
}

export interface FoundProof {
  name: string
  /** True in doubt. */
  lives: boolean
}

/** The proofs whose names have the given prefix. A living process whose socket was removed may be missing until it makes the socket again. */
export async function findProofs(directory: string, prefix: string): Promise<FoundProof[]> {
  const found: FoundProof[] = []
  for (const name of await proofs(directory, prefix)) found.push({ name, lives: await answers(directory, name) })
  return found
}

/** Names of living processes with the given prefix. */
export async function livingProofs(directory: string, prefix: string): Promise<string[]> {
  return (await findProofs(directory, prefix)).filter(({ lives }) => lives).map(({ name }) => name)
}

/** Removes what dead processes left. Call only when `livingProofs` finds none. */
export async function clearProofs(directory: string, prefix: string): Promise<void> {
  for (const file of await entries(directory, prefix)) {
    await rm(join(directory, file), { recursive: true, force: true }).catch(() => {})
  }
}

async function proofs(directory: string, prefix: string): Promise<string[]> {
  const files = await entries(directory, prefix)
  return files.filter((file) => file.endsWith(suffix)).map((file) => file.slice(0, -suffix.length))
}

async function entries(directory: string, prefix: string): Promise<string[]> {
  const files = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return files.filter((file) => file.startsWith(prefix))
}

async function listen(directory: string, name: string): Promise<ProofOfLife> {
  let socket = await openSocket(directory, name)
  let making: Promise<void> | undefined
  const look = async (): Promise<void> => {
    if (await isThere(socket, directory, name)) return
    const lost = socket
    socket = await openSocket(directory, name)
    await closed(lost.server)
  }
  const timer = setInterval(() => {
    // The next look retries after a failure.
    making ??= look()
      .catch(() => {})
      .finally(() => {
        making = undefined
      })
  }, limits.proofLookMs).unref()
  return {
    directory,
    end: async () => {
      clearInterval(timer)
      await making
      const isOurs = await isThere(socket, directory, name)
      await closed(socket.server)
      if (isOurs) await unlink(join(directory, name + suffix)).catch(() => {})
    },
  }
}

interface ListeningSocket {
  server: Server
  /** The identity of the socket's file. `undefined`: it has none. */
  inode: number | undefined
}

/** Creates the socket in a directory that only this user can enter, and moves it out when its permissions are set. */
async function openSocket(directory: string, name: string): Promise<ListeningSocket> {
  if (process.platform === 'win32') return { server: await listenOn(pipeName(name)), inode: undefined }
  const making = await mkdtemp(join(directory, `${name}-`))
  try {
    const address = await socketAddress(making, 'new')
    try {
      const server = await listenOn(address.path)
      const made = join(making, `new${suffix}`)
      await chmod(made, 0o600)
      const { ino } = await lstat(made)
      await rename(made, join(directory, name + suffix))
      return { server, inode: ino }
    } finally {
      await address.release()
    }
  } finally {
    await rm(making, { recursive: true, force: true })
  }
}

/** Uses `exclusive`, because otherwise a cluster worker's primary would listen in its place, and prove its own life. */
async function listenOn(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path, exclusive: true }, resolve)
  })
  return server.unref()
}

async function isThere({ inode }: ListeningSocket, directory: string, name: string): Promise<boolean> {
  if (inode === undefined) return true
  const found = await lstat(join(directory, name + suffix)).catch(() => undefined)
  return found?.ino === inode
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

/** A socket's path has a limit of about 100 bytes. On Linux, a longer one is reached through a descriptor of its directory. */
async function socketAddress(directory: string, name: string): Promise<{ path: string; release(): Promise<void> }> {
  const path = join(directory, name + suffix)
  if (process.platform === 'win32') return { path: pipeName(name), release: async () => {} }
  if (Buffer.byteLength(path) <= socketPathBytesMax || process.platform !== 'linux') {
    return { path, release: async () => {} }
  }
  const handle = await open(directory)
  return { path: `/proc/self/fd/${handle.fd}/${name}${suffix}`, release: () => handle.close() }
}

const pipeName = (name: string): string => `\\\\.\\pipe\\${name}`
