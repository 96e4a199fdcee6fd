/** Reads the values of flags that are no options of the configuration, and of words that are URLs. */
import { ConfigurationError } from '../config/configuration-error.ts'
import type { Kind } from '../config/kinds.ts'

/** Throws `ConfigurationError`, which names the flag. */
export function flagValue<T>(flag: string, kind: Kind<T>, text: string): T {
  try {
    return kind.parse([text], '')
  } catch (error) {
    if (error instanceof ConfigurationError) throw new ConfigurationError(`${flag}: ${error.message}`)
    throw error
  }
}

/** A URL without a path. `what`: the flag or word that it is given by. Throws `ConfigurationError`. */
export function originUrl(what: string, text: string, example = 'https://s3.example.com'): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = url?.pathname === '/' && url.search === '' && url.username === ''
  if (url !== undefined && /^https?:$/.test(url.protocol) && isOrigin) return url
  throw new ConfigurationError(`${what}: expects a URL such as ${example}, not '${text}'`)
}
