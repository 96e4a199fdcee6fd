/** Opens empty metadata, in a data directory or in PostgreSQL, for a command that fills it all or nothing. */
import { systemClock } from '../../clock.ts'
import { opening } from '../../closing-stack.ts'
import { DataDirectoryRefused, prepareDataDirectory } from '../../instance/data-directory.ts'
import { acquireInstanceLock } from '../../instance/instance-lock.ts'
import { livingProofs } from '../../instance/proof-of-life.ts'
import { markUnfinished, readMark, refuseUnfinished } from '../../instance/unfinished-metadata.ts'
import { openEngine } from '../metadata/open-engine.ts'
import { type FillSharedOptions, fillSharedMetadata } from './fill-shared-metadata.ts'
import { clear, type FilledMetadata, type FillOptions, fillMarked, isEmpty } from './filling.ts'

/**
 * What `fill` writes becomes valid when `fill` has resolved. Before that, or after a crash, no server starts on it, and the next such command begins again.
 * Throws `DataDirectoryRefused` or `SharedMetadataRefused` when there is metadata already, and `InstanceInUse`.
 */
export function fillMetadata<T>(
  { metadata, ...options }: FillOptions & { metadata: FillSharedOptions['metadata'] | undefined },
  fill: (metadata: FilledMetadata) => Promise<T>,
): Promise<T> {
  return metadata === undefined ? fillOwnMetadata(options, fill) : fillSharedMetadata({ ...options, metadata }, fill)
}

async function fillOwnMetadata<T>(
  { path, command, onFatal }: FillOptions,
  fill: (metadata: FilledMetadata) => Promise<T>,
): Promise<T> {
  const directory = await prepareDataDirectory(path, { create: true })
  // A server whose metadata was removed keeps running, and would not notice that other metadata exists.
  const living = await livingProofs(directory.path, 'instance-')
  if (living.length > 0)
    throw new DataDirectoryRefused(
      path,
      `is in use by a server that runs, which would not notice the metadata that ${command} writes. Stop it first`,
    )
  return opening(async (opened) => {
    const kv = await openEngine({ path: directory.meta, onFatal, takesOver: true })
    opened.add(() => kv.close())
    const lock = await acquireInstanceLock(kv, directory.path, systemClock)
    opened.add(() => lock.release())
    const mark = (await readMark(kv))?.value
    // A move to another engine is under way. What lies here is not left over from this command.
    if (mark?.move !== undefined) await refuseUnfinished(kv, path)
    if (mark === undefined && !(await isEmpty(kv))) {
      throw new DataDirectoryRefused(path, `holds metadata. Move its meta directory away to ${command} another`)
    }
    await markUnfinished(kv, command)
    await clear(kv)
    const result = await fillMarked({ kv, clock: systemClock, directory, defaultStore: directory.store }, fill)
    await opened.close()
    return result
  })
}
