/** Reads what `strace -f -y` recorded of a server, and finds answers that were sent before what they promise was on stable storage. Runs nothing. */

/** The system calls that write files, name them, or make either durable; and those that send answers. */
export const tracedCalls = [
  'open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat',
  'write,writev,pwrite64,pwritev,pwritev2,copy_file_range,ftruncate,truncate,fallocate',
  'fsync,fdatasync,sync_file_range,msync,io_uring_enter,sendto,sendmsg',
].join(',')

export interface Call {
  name: string
  /** As strace prints them, descriptors with their paths. */
  words: string
  result: string
  /** Numbers of the lines where it began and where it had ended. */
  began: number
  ended: number
}

/** Calls in the order in which they ended. One that another thread's line cuts in two is one again. */
export function parseTrace(text: string): Call[] {
  const calls: Call[] = []
  const unfinished = new Map<string, { name: string; words: string; began: number }>()
  for (const [number, line] of text.split('\n').entries()) {
    const [, thread, rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (thread === undefined) continue
    const begun = /^(\w+)\((.*) <unfinished \.\.\.>$/.exec(rest)
    if (begun !== null) {
      unfinished.set(thread, { name: begun[1] ?? '', words: begun[2] ?? '', began: number })
      continue
    }
    const resumed = /^<\.\.\. (\w+) resumed>(.*)\) += (.*)$/.exec(rest)
    const first = unfinished.get(thread)
    if (resumed !== null && first !== undefined) {
      unfinished.delete(thread)
      calls.push({ ...first, words: first.words + (resumed[2] ?? ''), result: resumed[3] ?? '', ended: number })
      continue
    }
    const whole = /^(\w+)\((.*)\) += (.*)$/.exec(rest)
    if (whole === null) continue
    const [, name = '', words = '', result = ''] = whole
    calls.push({ name, words, result, began: number, ended: number })
  }
  return calls
}

export const isSync = ({ name }: Call): boolean => name === 'fsync' || name === 'fdatasync'

/** One answer, and what had not reached the disk when it was sent. */
export interface TracedAnswer {
  status: number
  /** Files and directories below the root, relative to it. */
  unsynced: string[]
  /** Calls that synced something since the answer before. */
  syncs: number
}

/** `ignored`: paths of files that no promise rests on. */
export function answersOf(calls: readonly Call[], root: string, ignored: readonly RegExp[]): TracedAnswer[] {
  const disk = new TracedDisk(root, ignored)
  const answers: TracedAnswer[] = []
  for (const call of calls) {
    const status = statusSent(call)
    if (status === undefined) disk.apply(call)
    else answers.push({ status, unsynced: disk.unsynced(), syncs: disk.takeSyncs() })
  }
  return answers
}

/** Of a call that sends the head of an answer. */
function statusSent({ name, words }: Call): number | undefined {
  if (!/^(?:write|writev|sendto|sendmsg)$/.test(name) || !/^\d+<(?:socket|TCP)/.test(words)) return undefined
  const [, status] = /"HTTP\/1\.1 (\d{3})/.exec(words) ?? []
  return status === undefined || status === '100' ? undefined : Number(status)
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

/** What lies on the disk, and what is only in memory, after each call. */
class TracedDisk {
  readonly #root: string
  readonly #ignored: readonly RegExp[]
  /** Of each path, the line at which it was last changed without being synced. */
  readonly #changed = new Map<string, number>()
  readonly #known = new Set<string>()
  /** Descriptors whose writes are durable by themselves. A number serves another file as soon as it was opened again. */
  readonly #selfSyncing = new Set<string>()
  #syncs = 0

  constructor(root: string, ignored: readonly RegExp[]) {
    this.#root = root
    this.#ignored = ignored
  }

  unsynced(): string[] {
    return [...this.#changed.keys()].map((path) => path.slice(this.#root.length) || '/').sort()
  }

  takeSyncs(): number {
    const syncs = this.#syncs
    this.#syncs = 0
    return syncs
  }

  apply(call: Call): void {
    if (call.name === 'io_uring_enter') throw new Error('files are written by io_uring, which this trace does not show')
    if (call.result.startsWith('-1') || call.result.startsWith('?')) return
    if (/^(?:open|openat|creat)$/.test(call.name)) this.#opened(call)
    else if (/^(?:mkdir|link|symlink)(?:at)?$/.test(call.name)) this.#named(lastPath(call.words), call)
    else if (/^rename(?:at2?)?$/.test(call.name)) this.#renamed(call)
    else this.#usedDescriptor(call)
  }

  #usedDescriptor(call: Call): void {
    const [, descriptor = '', path] = /^(\d+<([^>]*)>)/.exec(call.words) ?? []
    if (path === undefined) return
    if (isSync(call)) this.#synced(path, call)
    else if (!this.#selfSyncing.has(descriptor)) this.#change(path, call)
  }

  #opened({ words, result, ended }: Call): void {
    const [, descriptor = '', path = ''] = /^(\d+<([^>]*)>)/.exec(result) ?? []
    this.#selfSyncing.delete(descriptor)
    if (/\bO_D?SYNC\b/.test(words)) this.#selfSyncing.add(descriptor)
    if (/\bO_CREAT\b/.test(words) && !this.#known.has(path)) this.#named(path, { ended })
  }

  #named(path: string, { ended }: Pick<Call, 'ended'>): void {
    this.#known.add(path)
    if (!this.#isIgnored(path)) this.#change(parentOf(path), { ended })
  }

  #isIgnored(path: string): boolean {
    return this.#ignored.some((name) => name.test(path))
  }

  #renamed(call: Call): void {
    const [from = '', to = ''] = pathsIn(call.words)
    const content = this.#changed.get(from)
    this.#changed.delete(from)
    if (content !== undefined) this.#changed.set(to, content)
    this.#named(to, call)
  }

  #change(path: string, { ended }: Pick<Call, 'ended'>): void {
    const isOurs = path === this.#root || path.startsWith(`${this.#root}/`)
    if (isOurs && !this.#isIgnored(path)) this.#changed.set(path, ended)
  }

  /** A call makes durable what had ended when it began. */
  #synced(path: string, { began }: Call): void {
    this.#syncs++
    const changed = this.#changed.get(path)
    if (changed !== undefined && changed < began) this.#changed.delete(path)
  }
}

const pathsIn = (words: string): string[] => [...words.matchAll(/"([^"]*)"/g)].map(([, path]) => path ?? '')

const lastPath = (words: string): string => pathsIn(words).at(-1) ?? ''
