/** Fetches small documents of an issuer: bounded in time and size, and never redirected. Knows no tokens. */
import { limits } from '../../limits.ts'

/** The issuer can't be had, or answers what it must not. The message names no address: it may be logged, and clients are told less. */
export class IssuerUnreachable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'IssuerUnreachable'
  }
}

/** Rejects with `IssuerUnreachable`. */
export async function fetchBytes(url: string, signal?: AbortSignal): Promise<Buffer> {
  const deadline = AbortSignal.timeout(limits.oidcAnswerMs)
  try {
    const response = await fetch(url, {
      // An issuer that sends elsewhere would have others vouch for it.
      redirect: 'manual',
      headers: { accept: 'application/json' },
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new IssuerUnreachable(`the issuer answered with status ${response.status}`)
    }
    return await readBounded(response)
  } catch (error) {
    if (error instanceof IssuerUnreachable) throw error
    throw new IssuerUnreachable('the issuer cannot be reached', { cause: error })
  }
}

async function readBounded({ body }: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > limits.oidcDocumentBytesMax) throw new IssuerUnreachable('the issuer sent a document that is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
