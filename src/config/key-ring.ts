/** Validates a key ring in the environment. It holds secrets, so it is not an option, which a command line or file could reveal. */
import { KeyRingInvalid, parseKeyRing } from '../encryption/key-ring.ts'
import { ConfigurationError } from './configuration-error.ts'

const variable = 'HOLDFAST_KEY_RING'

/** The ring's text. `undefined`: the ring is in the data directory. Throws `ConfigurationError`, without secrets. */
export function keyRingOf(environment: NodeJS.ProcessEnv): string | undefined {
  const text = environment[variable]
  if (!text) return undefined
  try {
    parseKeyRing(text)
    return text
  } catch (error) {
    if (error instanceof KeyRingInvalid) throw new ConfigurationError(`${variable}: ${error.message}`)
    throw error
  }
}
