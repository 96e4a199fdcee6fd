/** Makes schemas when they are first used. Loading their library takes longer than loading the rest of a server in memory, which needs no schema. */
import { createRequire } from 'node:module'
import type { z as Zod } from 'zod'

const require = createRequire(import.meta.url)
let library: typeof Zod | undefined

/** A process that has the library anyway gives it here. Otherwise Node would load it a second time, because `require` takes other files than `import`. */
export function makeSchemasWith(loaded: typeof Zod): void {
  library = loaded
}

/** Returns a function that gives the schema. */
export function lazySchema<T>(make: (z: typeof Zod) => T): () => T {
  let made: { schema: T } | undefined
  return () => {
    library ??= required()
    made ??= { schema: make(library) }
    return made.schema
  }
}

const required = (): typeof Zod => (require('zod') as { z: typeof Zod }).z
