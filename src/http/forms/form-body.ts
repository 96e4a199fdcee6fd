/**
 * Reads a form post as it streams: its fields, which come first, then the file. The only file that knows the multipart/form-data parser, which is loaded for
 * the first form: most servers never see one.
 */
import type { Busboy as ParserClass } from '@fastify/busboy'
import type { ByteSink } from '../../byte-source.ts'
import { invalidArgument, S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Exchange } from '../exchange.ts'
import { headerValue, type RequestHead } from '../request-head.ts'

export interface FormField {
  name: string
  value: string
}

const lineFeed = 0x0a

/** Stops the reading of a form whose file is not needed. */
class FormClosed extends Error {}

const malformed = (what: string): S3Error =>
  new S3Error('MalformedPOSTRequest', {
    message: `The body of your POST request is not well-formed multipart/form-data: ${what}.`,
  })

const nameless = (): S3Error => malformed('the name of a field is not one')

/** A promise and the functions that settle it. Its rejection is never an unhandled one: only code that awaits it sees it. */
function signal(): { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } {
  let resolve: () => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<void>((resolved, rejected) => {
    resolve = resolved
    reject = rejected
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}

type Parser = InstanceType<typeof ParserClass>

export class FormBody {
  /** The fields before the file, in order. */
  readonly fields: FormField[] = []
  /** The file's name as the client sent it, without folders. Absent: it has none. */
  filename: string | undefined
  /** Bytes of the body that follow the head of the file's part. Valid when the form is open. */
  remainingBytes: number
  readonly #parser: Parser
  readonly #boundary: string
  readonly #wire: Promise<void>
  readonly #opened = signal()
  /** Holds the client back until `drainFile` is called. */
  readonly #wanted = signal()
  readonly #finished = signal()
  #failure: S3Error | undefined
  #failWrite: (error: S3Error) => void = () => {}
  #state: 'fields' | 'file' | 'tail' = 'fields'
  readonly #lines: HeadLines
  #sink: ByteSink = () => {}
  #isTaken = false
  /** Slices of the file that the parser found and the sink has not had yet. They come from one chunk at most. */
  #found: Buffer[] = []
  #tailBytes = 0

  private constructor(Busboy: typeof ParserClass, exchange: Exchange, contentType: string, contentLength: number) {
    this.remainingBytes = contentLength
    this.#boundary = boundaryOf(contentType)
    this.#lines = new HeadLines(this.#boundary)
    this.#parser = this.#openParser(Busboy, contentType)
    const isSmall = contentLength <= limits.formFieldsBytesMax + limits.formFileBytesHeld
    const heldBytes = isSmall ? contentLength : limits.uploadBytesHeld
    this.#wire = exchange.body.drain((chunk) => this.#take(chunk), heldBytes).then(() => this.#end())
    this.#wire.catch((error: unknown) => this.#opened.reject(error))
  }

  /**
   * Resolves when all fields before the file are known. The caller must then `close` it in any case. Throws MissingContentLength, MalformedPOSTRequest,
   * MaxPostPreDataLengthExceeded, InvalidArgument for a form without a file, and what the body rejects with.
   */
  static async open(exchange: Exchange, head: RequestHead): Promise<FormBody> {
    // S3 checks the length first, as for any object.
    if (head.contentLength === undefined) throw new S3Error('MissingContentLength')
    const { Busboy } = await import('@fastify/busboy')
    const form = new FormBody(Busboy, exchange, headerValue(head, 'content-type') ?? '', head.contentLength)
    await form.#opened.promise
    return form
  }

  /** The file's size if nothing follows it but the form's end as browsers write it. */
  get expectedFileBytes(): number {
    return Math.max(0, this.remainingBytes - this.#boundary.length - '\r\n----\r\n'.length)
  }

  /** Gives every byte of the file to `sink`, once, and resolves when the form has ended properly. Rejects with what the body and `sink` reject with. */
  async drainFile(sink: ByteSink): Promise<void> {
    this.#sink = sink
    this.#isTaken = true
    this.#wanted.resolve()
    await this.#wire
  }

  /** Stops reading the form if `drainFile` was never called. Idempotent. */
  async close(): Promise<void> {
    if (this.#isTaken) return
    this.#wanted.reject(new FormClosed())
    await this.#wire.catch(() => {})
  }

  #openParser(Busboy: typeof ParserClass, contentType: string): Parser {
    const parser = openParser(Busboy, contentType, (name) => this.#isFile(name))
    parser.on('field', (name: unknown, value: unknown) => this.#addField(name, value))
    parser.on('file', (_name, stream, filename) => {
      this.filename = typeof filename === 'string' ? filename : undefined
      this.#state = 'file'
      stream.on('data', (slice: Buffer) => void this.#found.push(slice))
      stream.on('end', () => {
        this.#state = 'tail'
      })
      // The parser reports the same error.
      stream.on('error', () => {})
    })
    parser.on('error', () => this.#fail(malformed('it ends in the middle')))
    parser.on('finish', () => this.#finished.resolve())
    return parser
  }

  #isFile(name: string | undefined): boolean {
    // Known from the head of the part: the part itself may be the file, and too long for a field.
    if (name === '') this.#fail(nameless())
    // A file name does not make a part the file: some clients give every part one.
    return name?.toLowerCase() === 'file'
  }

  #addField(name: unknown, value: unknown): void {
    if (this.#state !== 'fields') return
    if (typeof name !== 'string' || !/^[\x20-\x7e]+$/.test(name)) {
      this.#fail(nameless())
    } else if (typeof value !== 'string' || value.includes('\ufffd')) {
      this.#fail(malformed('a field is not UTF-8'))
    } else {
      this.fields.push({ name, value })
    }
  }

  #fail(error: S3Error): void {
    this.#failure ??= error
    this.#failWrite(this.#failure)
    this.#finished.reject(this.#failure)
  }

  #take(chunk: Buffer): void | Promise<void> {
    if (this.#state !== 'fields') return this.#pass(chunk)
    const taken = this.#takeFields(chunk)
    if (this.#failure !== undefined) throw this.#failure
    if (this.#hasFile()) return this.#openFile(chunk.subarray(taken))
  }

  /** Parses line by line, to find where the head of the file's part ends. Returns how many bytes it took. */
  #takeFields(chunk: Buffer): number {
    let at = 0
    while (at < chunk.length && !this.#hasFile()) {
      const end = chunk.indexOf(lineFeed, at)
      const line = chunk.subarray(at, end < 0 ? chunk.length : end + 1)
      this.#parser.write(line)
      // The parser reports a part only when it sees what follows the part's head.
      if (!this.#hasFile()) this.#lines.add(line)
      if (this.#failure !== undefined) throw this.#failure
      if (this.#lines.bytes > limits.formFieldsBytesMax) throw new S3Error('MaxPostPreDataLengthExceeded')
      at += line.length
    }
    return at
  }

  /** A method, because the compiler would narrow a plain comparison and not see that the parser changes the state. */
  #hasFile(): boolean {
    return this.#state !== 'fields'
  }

  async #openFile(rest: Buffer): Promise<void> {
    // The parser skips what it can't read, but no part of a form may be ignored.
    if (this.fields.length + 1 !== this.#lines.parts) throw malformed('it has a part that is no field')
    this.remainingBytes -= this.#lines.headBytes
    this.#opened.resolve()
    await this.#wanted.promise
    if (rest.length > 0) await this.#pass(rest)
  }

  async #pass(chunk: Buffer): Promise<void> {
    if (this.#state === 'tail') this.#tailBytes += chunk.length
    if (this.#tailBytes > limits.formTailBytesMax) throw malformed('too much follows the file')
    await this.#write(chunk)
    await this.#giveFound()
  }

  #write(chunk: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#failWrite = reject
      if (this.#failure === undefined) this.#parser.write(chunk, () => resolve())
      else reject(this.#failure)
    })
  }

  async #giveFound(): Promise<void> {
    while (this.#found.length > 0) {
      const slices = this.#found
      this.#found = []
      for (const slice of slices) {
        const taken = this.#sink(slice)
        if (taken !== undefined) await taken
      }
    }
  }

  /** Runs when the body has ended. */
  async #end(): Promise<void> {
    this.#parser.end()
    await this.#finished.promise
    await this.#giveFound()
    if (this.#state === 'fields') {
      throw invalidArgument('file', '0', 'POST requires exactly one file upload per request.')
    }
  }
}

/** The lines before the file: how many parts they begin, and where the last empty line ended. An empty line ends a part's head. */
class HeadLines {
  bytes = 0
  headBytes = 0
  parts = 0
  readonly #delimiter: string
  /** The start of the unfinished line, up to a delimiter's length. */
  #start = ''

  constructor(boundary: string) {
    this.#delimiter = `--${boundary}`
  }

  add(bytes: Buffer): void {
    this.bytes += bytes.length
    this.#start += bytes.toString('latin1', 0, this.#delimiter.length - this.#start.length)
    if (bytes.at(-1) !== lineFeed) return
    if (this.#start === '\r\n') this.headBytes = this.bytes
    if (this.#start === this.#delimiter) this.parts++
    this.#start = ''
  }
}

function openParser(
  Busboy: typeof ParserClass,
  contentType: string,
  isPartAFile: (name: string | undefined) => boolean,
): Parser {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      isPartAFile,
      limits: { fieldSize: limits.formFieldsBytesMax, headerSize: 2 * limits.formFieldsBytesMax, files: 1 },
    })
  } catch {
    throw noBoundary()
  }
}

const noBoundary = (): S3Error => malformed('its Content-Type names no boundary that can be one')

/** The boundary as the parser reads it. Throws MalformedPOSTRequest when there is none. */
function boundaryOf(contentType: string): string {
  const [, quoted, plain = ''] = /;\s*boundary=(?:"([^"]*)"|([^;\s]*))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary === '') throw noBoundary()
  return boundary
}
