/** A process that LMDB may end: runs every job over a data directory, and tries to get rid of what is locked in it. Says what came of it. */
import { startJobs } from '../../src/jobs/runner.ts'
import { deleteBucket } from '../../src/objects/buckets.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { scopeOf } from '../objects/fixture.ts'
import { openAt, vault } from './flips-world.ts'

export interface ChildReport {
  refused?: string
  bucket?: string
  damage?: string | undefined
}

const [, , path = '', ...versions] = process.argv
process.stdout.write(`${JSON.stringify(await work())}\n`)

async function work(): Promise<ChildReport> {
  let data: Awaited<ReturnType<typeof openAt>>
  try {
    data = await openAt(path)
  } catch (error) {
    return { refused: String(error) }
  }
  const { backend } = data
  const jobs = startJobs({
    backend,
    intervalMs: 2 ** 31 - 1,
    graceMs: 0,
    quarantineMs: 0,
    abandonedUploadMs: 2 ** 40,
    onError: () => {},
  })
  for (let run = 0; run < 2; run++) await jobs.runOnce().catch(() => {})
  for (const version of versions) {
    const [key = '', versionId] = version.split('=')
    await outcomeOf(deleteObject(backend, scopeOf(vault), { key, versionId }))
  }
  const bucket = await outcomeOf(deleteBucket(backend, scopeOf(vault)))
  for (let run = 0; run < 2; run++) await jobs.runOnce().catch(() => {})
  const damage = await backend.kv.integrity.damage()
  await jobs.stop()
  await data.close().catch(() => {})
  return { bucket, damage }
}

function outcomeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'ok',
    (error: Error) => error.message,
  )
}
