/** Checks that a TLS certificate and a private key can be served together. Pure. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { ConfigurationError } from '../../config/configuration-error.ts'
import type { KeyPair } from './tls-front.ts'

/** `names` tell in messages where each text came from. Throws `ConfigurationError`, which never contains any part of the key. */
export function checkKeyPair({ cert, key }: KeyPair, names: Record<keyof KeyPair, string>): void {
  const certificate = readAs(`${names.cert} holds no certificate in PEM form`, cert, () => new X509Certificate(cert))
  const privateKey = readAs(`${names.key} holds no private key in PEM form, or one with a passphrase`, key, () =>
    createPrivateKey(key),
  )
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new ConfigurationError(`the private key in ${names.key} does not belong to the certificate in ${names.cert}`)
  }
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    const reason = error instanceof Error && 'reason' in error ? error.reason : 'unknown reason'
    throw new ConfigurationError(`the certificate in ${names.cert} can't be served: ${reason}`)
  }
}

function readAs<T>(refusal: string, pem: string, read: () => T): T {
  // Node's parser also accepts the binary form (DER), but TLS rejects it.
  if (!pem.includes('-----BEGIN ')) throw new ConfigurationError(refusal)
  try {
    return read()
  } catch {
    throw new ConfigurationError(refusal)
  }
}
