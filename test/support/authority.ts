/** A certificate authority of a test's own. Node can't make certificates; the openssl that is installed can. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyPair } from '../../src/http/connections/tls-front.ts'

/** Succeeds where certificates can be made: for `describeInstalled`. */
export const opensslProbe = ['openssl', 'version'] as const

export interface Authority {
  /** What a client must trust: PEM, as text and as a file. */
  cert: string
  certFile: string
  /** A certificate for this machine's loopback names. `name` is its common name, by which a test tells one from another. */
  issue(name: string): KeyPair
}

const [command] = opensslProbe
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Leaves its files in `directory`. */
export function makeAuthority(directory: string): Authority {
  const at = (name: string): string => join(directory, name)
  const read = (name: string): string => readFileSync(at(name), 'utf8')
  const openssl = (...words: string[]): void => void execFileSync(command, words, { stdio: 'pipe' })

  const authority = ['-subj', '/CN=authority of a test', '-addext', 'keyUsage=critical,keyCertSign']
  openssl('req', '-x509', ...newKey, '-keyout', at('ca.key'), '-out', at('ca.pem'), '-days', '2', ...authority)
  writeFileSync(at('names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:*.localhost')
  return {
    cert: read('ca.pem'),
    certFile: at('ca.pem'),
    issue: (name) => {
      const authorised = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('names')]
      openssl('req', ...newKey, '-keyout', at('key'), '-out', at('request'), '-subj', `/CN=${name}`)
      openssl('x509', '-req', '-in', at('request'), '-out', at('cert'), '-days', '2', ...authorised)
      return { cert: read('cert'), key: read('key') }
    },
  }
}
