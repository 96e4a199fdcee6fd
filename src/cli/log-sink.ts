/**
 * Writes log lines through a bounded queue to a file or stderr. Callers never wait and never see an error. Lines that don't fit in the queue are dropped,
 * and a later line says how many (ADR 0029).
 */
import { close, constants, fstatSync, openSync, write as writeCallback } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { limits } from '../limits.ts'

const write = promisify(writeCallback)

export interface LogTarget {
  fd: number
  /** Maximum bytes of one write: so few that the system does not interleave it with other processes' writes to the same target. */
  writeBytesMax: number
}

export interface LogSink {
  /** The line includes its line end. Returns at once. */
  write(line: string): void
  /** Sends later lines to the new target, and also lines that the old one refuses, even one that it holds a part of. */
  redirect(target: LogTarget): void
  /** Resolves when all lines are written, or after this time. */
  flush(forMs: number): Promise<void>
}

const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK, O_NOCTTY } = constants

/** Opens a file for appending. Throws an error of the file system. */
export function logFile(path: string): LogTarget {
  const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY, 0o600)
  return { fd, writeBytesMax: limits.logFileWriteBytesMax }
}

/** stderr, opened so that a write never waits for a reader. */
export function standardError(): LogTarget {
  const kind = fstatSync(2)
  if (kind.isFile()) return { fd: 2, writeBytesMax: limits.logFileWriteBytesMax }
  return { fd: withoutWaiting(kind.isSocket()), writeBytesMax: limits.logPipeWriteBytesMax }
}

/**
 * Opens a pipe or terminal again, because the non-blocking flag belongs to the open file, which other programs share. A socket can't be opened again.
 * For a socket, and on systems without /proc, Node sets the flag when it makes its own stream.
 */
function withoutWaiting(isSocket: boolean): number {
  if (!isSocket) {
    try {
      return openSync('/proc/self/fd/2', O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY)
    } catch {
      // stderr belongs to another user, or the system has no /proc.
    }
  }
  process.stderr.on('error', () => {})
  return 2
}

/** `dropped` returns the line that says how many lines were dropped. */
export function openLogSink(target: LogTarget, dropped: (count: number) => string): LogSink {
  return new QueuedSink(target, dropped)
}

class QueuedSink implements LogSink {
  readonly #droppedLine: (count: number) => string
  #target: LogTarget
  /** The target to switch to after the write under way. */
  #next: LogTarget | undefined
  #lines: string[] = []
  #queuedBytes = 0
  #dropped = 0
  #writing: Promise<void> | undefined

  constructor(target: LogTarget, droppedLine: (count: number) => string) {
    this.#target = target
    this.#droppedLine = droppedLine
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line)
    if (this.#queuedBytes + bytes > limits.logQueueBytesMax) {
      this.#dropped++
      return
    }
    this.#queuedBytes += bytes
    this.#lines.push(line)
    this.#writing ??= this.#writeAll()
  }

  redirect(target: LogTarget): void {
    if (this.#next !== undefined) closeQuietly(this.#next)
    this.#next = undefined
    if (isSameFile(target, this.#target)) {
      // Keeps the open file, which may hold a part of a line whose rest is still to be written.
      closeQuietly(target)
      return
    }
    this.#next = target
    if (this.#writing === undefined) this.#takeNext()
  }

  async flush(forMs: number): Promise<void> {
    const ended = new AbortController()
    await Promise.race([this.#writing, delay(forMs, undefined, { signal: ended.signal }).catch(() => {})])
    ended.abort()
  }

  async #writeAll(): Promise<void> {
    // Waits, so that the lines of one turn of the event loop are written together.
    await undefined
    while (this.#lines.length > 0) {
      const bytes = this.#takeLines()
      await this.#writeWhole(bytes)
      this.#queuedBytes -= bytes.length
      this.#takeNext()
      if (this.#dropped > 0 && this.#queuedBytes * 2 < limits.logQueueBytesMax) this.#tellDropped()
    }
    this.#writing = undefined
  }

  #takeLines(): Buffer {
    let count = 0
    let bytes = 0
    for (const line of this.#lines) {
      bytes += Buffer.byteLength(line)
      if (count > 0 && bytes > this.#target.writeBytesMax) break
      count++
    }
    return Buffer.from(this.#lines.splice(0, count).join(''))
  }

  /** Tries forever, because a reader may come back, or a device get free space. */
  async #writeWhole(bytes: Buffer): Promise<void> {
    let written = 0
    while (written < bytes.length) {
      try {
        written += (await write(this.#target.fd, bytes, written)).bytesWritten
      } catch {
        if (this.#next === undefined) {
          await delay(limits.logRetryMs, undefined, { ref: false })
          continue
        }
        // A new target does not wait for the old one's device. It gets the whole line that the old one holds a part of.
        this.#takeNext()
        written = bytes.subarray(0, written).lastIndexOf('\n') + 1
      }
    }
  }

  #takeNext(): void {
    if (this.#next === undefined) return
    closeQuietly(this.#target)
    this.#target = this.#next
    this.#next = undefined
  }

  #tellDropped(): void {
    const line = this.#droppedLine(this.#dropped)
    this.#dropped = 0
    this.#queuedBytes += Buffer.byteLength(line)
    this.#lines.push(line)
  }
}

function isSameFile(one: LogTarget, other: LogTarget): boolean {
  const [found, known] = [fstatSync(one.fd), fstatSync(other.fd)]
  return found.dev === known.dev && found.ino === known.ino
}

/** Leaves stderr open: otherwise the next file would get its descriptor, and with it everything written to stderr. */
function closeQuietly({ fd }: LogTarget): void {
  if (fd !== 2) close(fd, () => {})
}
