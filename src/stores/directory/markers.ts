/** Markers of batches as empty files in `pending/`. */
import type { MarkerStorage } from '../batches/marker-storage.ts'
import { createEmpty, type StoreContext } from './context.ts'
import { isMissing, unlessMissing } from './failures.ts'

export function directoryMarkers({ fs, layout, directories }: StoreContext): MarkerStorage {
  return {
    create: async (name) => {
      await createEmpty(fs, layout.marker(name))
      await directories.sync(layout.pending)
    },
    list: () => fs.list(layout.pending),
    replace: async (name, by) => {
      try {
        await fs.rename(layout.marker(name), layout.marker(by))
      } catch (error) {
        if (!isMissing(error)) throw error
        // Rejects if the whole store is missing, so that the caller tries again when it is back.
        await fs.stat(layout.pending)
      }
    },
    remove: async (names) => {
      for (const name of names) await unlessMissing(fs.unlink(layout.marker(name)))
      await directories.sync(layout.pending)
    },
  }
}
