/** CORS documents, and the requests that browsers send for pages of other origins. */
import { Agent } from 'node:http'
import type { HeaderPair } from './signer.ts'
import { type Ask, exchange, type Reply, signAsk, type Wire } from './wire-client.ts'
import { putDocument } from './wire-documents.ts'

/** Elements of a rule in turn: `['AllowedMethod', 'GET']`. */
export type RuleElements = readonly (readonly [element: string, text: string])[]

export function corsDocument(...rules: RuleElements[]): string {
  const written = rules.map((rule) => rule.map(([element, text]) => `<${element}>${text}</${element}>`).join(''))
  return `<CORSConfiguration>${written.map((rule) => `<CORSRule>${rule}</CORSRule>`).join('')}</CORSConfiguration>`
}

export const putCors = (...rules: RuleElements[]) => putDocument({ cors: '' }, corsDocument(...rules))

export interface PreflightAsk extends Pick<Ask, 'bucket' | 'key' | 'query' | 'vendor'> {
  origin?: string
  /** The method of the request that is to come. */
  method?: string
  /** The names of its headers. */
  headers?: string
  /** The request that is to come is signed by its URL. */
  presigned?: boolean
}

/** What a browser sends before the request itself: unsigned, to the same URL. */
export function preflight(
  wire: Wire,
  { origin, method, headers, presigned = false, ...ask }: PreflightAsk,
): Promise<Reply> {
  const { target, headers: sent } = signAsk({ ...ask, method: 'PUT', presigned: true }, wire.port, wire.style)
  const pairs: HeaderPair[] = sent.filter(([name]) => name.toLowerCase() === 'host')
  if (origin !== undefined) pairs.push(['Origin', origin])
  if (method !== undefined) pairs.push(['Access-Control-Request-Method', method])
  if (headers !== undefined) pairs.push(['Access-Control-Request-Headers', headers])
  const path = presigned ? target : target.split('?')[0]
  return exchange(new Agent(), wire.port, {
    method: 'OPTIONS',
    target: path ?? '/',
    headers: pairs,
    body: Buffer.alloc(0),
  })
}

/** All that an answer says to a page. */
export function saidToPage({ headers }: Reply): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))
}
