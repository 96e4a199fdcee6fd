/**
 * The files of a TLS certificate and its key. Reads them at start and then regularly, and reports changed content. It does not watch them, because
 * watching misses some replacements (by a rename, a link or a mount), but reading does not.
 */
import { readFile } from 'node:fs/promises'
import { ConfigurationError } from '../../config/configuration-error.ts'
import type { TlsFiles } from '../../config/options.ts'
import { failureText } from '../../file-failure.ts'
import { checkKeyPair } from '../../http/connections/key-pair.ts'
import type { KeyPair } from '../../http/connections/tls-front.ts'
import { limits } from '../../limits.ts'
import type { Log } from '../log.ts'

/** Throws `ConfigurationError`. */
export async function openKeyPairFiles(files: TlsFiles, log: Log): Promise<KeyPairFiles> {
  const pair = await readPair(files)
  checkKeyPair(pair, files)
  return new KeyPairFiles(files, pair, log)
}

export class KeyPairFiles {
  readonly #files: TlsFiles
  readonly #log: Log
  #current: KeyPair
  readonly #renewed: ((pair: KeyPair) => void)[] = []
  #timer: NodeJS.Timeout | undefined
  #closed = false
  /** The problem found at the last look, so that each one is logged only once. */
  #complaint = ''

  constructor(files: TlsFiles, pair: KeyPair, log: Log) {
    this.#files = files
    this.#current = pair
    this.#log = log
  }

  /** The last pair that could be served. */
  get current(): KeyPair {
    return this.#current
  }

  /** Adds a listener: `renewed` is called with each new pair that can be served. */
  watch(renewed: (pair: KeyPair) => void): void {
    this.#renewed.push(renewed)
    this.#lookLater()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  #lookLater(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.look(), limits.keyPairLookMs).unref()
  }

  /** Reads the files now, in addition to the regular looks. */
  async look(): Promise<void> {
    try {
      const pair = await readPair(this.#files)
      if (this.#closed) return
      if (pair.cert !== this.#current.cert || pair.key !== this.#current.key) this.#renew(pair)
      this.#complaint = ''
    } catch (error) {
      this.#complain(failureText(error))
    }
    if (!this.#closed) this.#lookLater()
  }

  #renew(pair: KeyPair): void {
    checkKeyPair(pair, this.#files)
    this.#current = pair
    for (const renewed of this.#renewed) renewed(pair)
    this.#log.info({ certificate: this.#files.cert }, 'the new TLS certificate is in use')
  }

  #complain(message: string): void {
    if (message === this.#complaint) return
    this.#complaint = message
    this.#log.error({ reason: message }, 'the new TLS certificate is not used: the old one stays in force')
  }
}

async function readPair({ cert, key }: TlsFiles): Promise<KeyPair> {
  return { cert: await readPem(cert), key: await readPem(key) }
}

async function readPem(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new ConfigurationError(failureText(error))
  }
}
