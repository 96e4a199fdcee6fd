/** The version of this package, from its package.json. */
import { readFileSync } from 'node:fs'

/** The compiled file lies one directory deeper than its source. */
const candidates = ['../package.json', '../../package.json']

function readVersion(): string {
  for (const candidate of candidates) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(candidate, import.meta.url), 'utf8'))
      if (name === 'holdfast') return String(version)
    } catch {
      // It is not there: try the next one.
    }
  }
  return 'unknown'
}

export const version: string = readVersion()
