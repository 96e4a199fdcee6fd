/** Signed requests as someone on the way could change them. */
import type { SignedRequest } from '../../src/auth/verify.ts'
import type { Headers } from './signer.ts'

/** `request` with the value of one header replaced after signing; `undefined` removes the header. */
export function withHeader(
  request: SignedRequest,
  name: string,
  change: (value: string) => string | undefined,
): SignedRequest {
  const rawHeaders = request.names.flatMap((candidate, i) => {
    const sent = [request.rawHeaders[2 * i] ?? '', request.rawHeaders[2 * i + 1] ?? '']
    if (candidate !== name) return sent
    const value = change(sent[1] ?? '')
    return value === undefined ? [] : [sent[0] ?? '', value]
  })
  return { ...request, rawHeaders, names: rawHeaders.filter((_, i) => i % 2 === 0).map((sent) => sent.toLowerCase()) }
}

export const withAdded = (request: SignedRequest, ...added: Headers): SignedRequest => ({
  ...request,
  rawHeaders: [...request.rawHeaders, ...added.flat()],
  names: [...request.names, ...added.map(([name]) => name.toLowerCase())],
})
