/**
 * Notes about a metadata file that processes leave for each other and for the next start. They are files beside it, because the metadata itself may be
 * damaged. Knows nothing of how damage is found.
 */
import { existsSync } from 'node:fs'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { randomId, systemClock } from '../../clock.ts'
import type { CheckReport } from '../kv.ts'
import { noteFields, readReport } from '../read-report.ts'
import { syncDirectory } from '../sync-directories.ts'

/** Why writes are stopped. */
export type Guard =
  /** A check is under way. `refuses`: writes are refused at once instead of waiting for it. */
  { state: 'checking'; refuses: boolean } | { state: 'damaged'; reason: string }

export class IntegrityNotes {
  readonly #guard: string
  readonly #running: string
  readonly #checked: string
  /** Notes are written one after the other, because two at once would use the same unfinished file. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(directory: string) {
    this.#guard = join(directory, 'guard.json')
    this.#running = join(directory, 'running')
    this.#checked = join(directory, 'checked.json')
  }

  /** Synchronous, because it is called before each transaction. */
  isGuarded(): boolean {
    return existsSync(this.#guard)
  }

  /** A note that cannot be read counts as damage: a process had a reason to write it. */
  async guard(): Promise<Guard | undefined> {
    const text = await this.guardText()
    if (text === undefined) return undefined
    return (
      guardIn(noteFields(text)) ?? { state: 'damaged', reason: 'what was found wrong with it cannot be read any more' }
    )
  }

  /** Every guard that is set has a different text. */
  guardText(): Promise<string | undefined> {
    return readFile(this.#guard, 'utf8').catch(absent)
  }

  setGuard(guard: Guard): Promise<void> {
    return this.#inTurn(() => writeNote(this.#guard, JSON.stringify({ ...guard, id: randomId(systemClock) })))
  }

  /** Removes the guard unless another one was set since `text` was read: that one reports a later finding. */
  clearGuard(text: string | undefined): Promise<void> {
    return this.#inTurn(async () => {
      const now = await this.guardText()
      if (now !== undefined && now === text) await removeNote(this.#guard)
    })
  }

  /** This process owns the file from now on. Resolves with whether the previous owner ended without `endRun`. */
  beginRun(): Promise<boolean> {
    return this.#inTurn(async () => {
      await keepSpares(dirname(this.#running))
      if (existsSync(this.#running)) return true
      await writeNote(this.#running, '')
      return false
    })
  }

  endRun(): Promise<void> {
    return this.#inTurn(() => removeNote(this.#running))
  }

  async lastCheck(): Promise<CheckReport | undefined> {
    const text = await readFile(this.#checked, 'utf8').catch(absent)
    return text === undefined ? undefined : readReport(text)
  }

  setLastCheck(report: CheckReport): Promise<void> {
    return this.#inTurn(() => writeNote(this.#checked, JSON.stringify(report)))
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => {})
    return done
  }
}

function guardIn({ state, refuses, reason }: Record<string, unknown>): Guard | undefined {
  if (state === 'checking' && typeof refuses === 'boolean') return { state, refuses }
  if (state === 'damaged' && typeof reason === 'string') return { state, reason }
  return undefined
}

/** Writes a note whole or not at all. On a full disk it uses a spare file made in advance, because notes decide whether any write, even a delete, is allowed. */
async function writeNote(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`
  try {
    await writeText(unfinished, 'w', text)
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    if (!isFull(error) || !(await writeIntoSpare(path, text))) throw error
  }
  await syncDirectory(dirname(path))
}

async function writeText(path: string, flags: 'w' | 'r+', text: string | Buffer): Promise<void> {
  const file = await open(path, flags, 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A start after an unclean end writes this many notes. */
const spares = ['spare-1', 'spare-2', 'spare-3']
const spareBytes = 4096

/** Makes the missing spare files if there is room. They are filled with blanks, which are allowed after JSON. */
async function keepSpares(directory: string): Promise<void> {
  for (const name of spares) {
    const path = join(directory, name)
    if (existsSync(path)) continue
    const unfinished = `${path}.${process.pid}`
    try {
      await writeText(unfinished, 'w', ' '.repeat(spareBytes))
      await rename(unfinished, path)
    } catch (error) {
      await rm(unfinished, { force: true })
      if (!isFull(error)) throw error
    }
  }
}

async function writeIntoSpare(path: string, text: string): Promise<boolean> {
  if (Buffer.byteLength(text) > spareBytes) return false
  // Overwrite the whole file: a crash may have left half of another note in it.
  const padded = Buffer.alloc(spareBytes, ' ')
  padded.write(text)
  for (const name of spares) {
    const spare = join(dirname(path), name)
    if (!existsSync(spare)) continue
    await writeText(spare, 'r+', padded)
    await rename(spare, path)
    return true
  }
  return false
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}

async function removeNote(path: string): Promise<void> {
  await rm(path, { force: true })
  await syncDirectory(dirname(path))
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined
  throw error
}
