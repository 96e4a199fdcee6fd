/** How long starts take: of an empty program, of the library, and of the command on a directory that has been served before. */
import { execFile as execFileOf } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { StartCosts } from './results.ts'
import { startHoldfast } from './servers/holdfast.ts'
import { measureLibraryStart } from './servers/references.ts'

const execFile = promisify(execFileOf)

/** Measures each kind of start once in each round, so that what slows down a round slows down all kinds. */
export async function measureStarts(directory: string, rounds: number): Promise<StartCosts[]> {
  const data = join(directory, 'starts')
  await serveMs(data, 1)
  const costs: StartCosts[] = []
  for (let round = 0; round < rounds; round++) {
    const emptyMs = await emptyProgramMs()
    costs.push({
      emptyMs,
      ...(await measureLibraryStart()),
      serveMs: await serveMs(data, 1),
      serveTwoMs: await serveMs(data, 2),
    })
  }
  return costs
}

async function emptyProgramMs(): Promise<number> {
  const beganMs = performance.now()
  await execFile(process.execPath, ['--eval', '0'])
  return performance.now() - beganMs
}

async function serveMs(data: string, workers: number): Promise<number> {
  const { startMs, close } = await startHoldfast('starts', { data, workers })
  await close()
  return startMs
}
