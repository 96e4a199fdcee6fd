/** Fetches small documents from an issuer, with limits on time and size, and without redirects. Knows no tokens. */
import { withDeadline } from '../../deadline.ts'
import { limits } from '../../limits.ts'

/** The issuer can't be reached, or its answer is invalid. The message names no address, because it may be logged. Clients get less detail. */
export class IssuerUnreachable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'IssuerUnreachable'
  }
}

/** Rejects with `IssuerUnreachable`. */
export async function fetchBytes(url: string, signal?: AbortSignal): Promise<Buffer> {
  try {
    return await withDeadline(limits.oidcAnswerMs, signal, (ending) => fetchInTime(url, ending))
  } catch (error) {
    if (error instanceof IssuerUnreachable) throw error
    throw new IssuerUnreachable('the issuer cannot be reached', { cause: error })
  }
}

async function fetchInTime(url: string, signal: AbortSignal): Promise<Buffer> {
  // A redirect would let another host vouch for the issuer.
  const response = await fetch(url, { redirect: 'manual', headers: { accept: 'application/json' }, signal })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new IssuerUnreachable(`the issuer answered with status ${response.status}`)
  }
  return await readBounded(response)
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
