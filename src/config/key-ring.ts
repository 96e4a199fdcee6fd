/** The key ring, where the environment gives it: validation only. It holds secrets, so it is no option that a command line or file could show. */
import { KeyRingInvalid, parseKeyRing } from '../encryption/key-ring.ts'
import { ConfigurationError } from './configuration-error.ts'

const variable = 'HOLDFAST_KEY_RING'

/** The ring as text, or `undefined`: it is kept in the data directory. Throws `ConfigurationError`, without secrets. */
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
