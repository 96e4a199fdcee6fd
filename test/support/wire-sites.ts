/** Websites over the wire: their configuration, and visits as browsers make them. */
import { Agent } from 'node:http'
import type { HeaderPair } from './signer.ts'
import { exchange, type Reply, type Wire, wireBucket } from './wire-client.ts'
import { putDocument } from './wire-documents.ts'

/** Every wire server has its websites below it. */
const websiteDomain = 'site.test'

/** What is between the tags of the root. */
export const putWebsite = (elements: string) =>
  putDocument({ website: '' }, `<WebsiteConfiguration>${elements}</WebsiteConfiguration>`)

export const indexDocument = '<IndexDocument><Suffix>index.html</Suffix></IndexDocument>'
export const errorDocument = '<ErrorDocument><Key>error.html</Key></ErrorDocument>'
export const routingRules = (...rules: string[]): string =>
  `<RoutingRules>${rules.map((rule) => `<RoutingRule>${rule}</RoutingRule>`).join('')}</RoutingRules>`

/** Anybody may read all objects; and see which are missing, where `list` says so. */
export async function openToAll(wire: Wire, { list = true, bucket = wireBucket } = {}): Promise<void> {
  const statement = (Action: string, Resource: string) => ({ Effect: 'Allow', Principal: '*', Action, Resource })
  const Statement = [
    statement('s3:GetObject', `arn:aws:s3:::${bucket}/*`),
    ...(list ? [statement('s3:ListBucket', `arn:aws:s3:::${bucket}`)] : []),
  ]
  const body = JSON.stringify({ Version: '2012-10-17', Statement })
  await wire.must({ method: 'PUT', bucket, query: { policy: '' }, body })
}

export async function putPages(wire: Wire, ...keys: string[]): Promise<void> {
  for (const key of keys) await putPage(wire, key)
}

/** Its text is its key. */
export async function putPage(wire: Wire, key: string, vendor: Record<string, string> = {}): Promise<void> {
  await wire.must({ method: 'PUT', key, body: `this is ${key}`, headers: { 'Content-Type': 'text/html' }, vendor })
}

export interface Visit {
  method?: string
  /** With the port that the server has, unless it says another. */
  host?: string
  headers?: readonly HeaderPair[]
}

/** `target`: as it stands in the request line. */
export function visit(wire: Wire, target: string, { method = 'GET', host, headers = [] }: Visit = {}): Promise<Reply> {
  const pairs: HeaderPair[] = [['Host', host ?? siteHost(wire)], ...headers]
  return exchange(new Agent(), wire.port, { method, target, headers: pairs, body: Buffer.alloc(0) })
}

export const siteHost = ({ port }: Wire, bucket = wireBucket): string => `${bucket}.${websiteDomain}:${port}`
