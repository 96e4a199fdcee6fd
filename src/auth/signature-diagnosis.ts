/**
 * Says why a signature does not match, for the operator's log: which one change of the request, as proxies and clients make them, would make it match. Clients
 * must not learn it, because it would help them to guess. Pure.
 */
import {
  type CanonicalParts,
  canonicalPath,
  type HeaderIndex,
  parseQuery,
  type QueryParameter,
} from './canonical-request.ts'

interface Candidate {
  /** What was changed on the way, and what can be done about it. */
  says: string
  parts: CanonicalParts
}

/** Anybody can have a signature diagnosed, so what takes long is not tried: requests of more parts, and more changes of one. */
const partsMax = 64
const triesMax = 100

/** `matches`: whether the signature is that of these parts. */
export function diagnosis(
  signed: CanonicalParts,
  rawQuery: string,
  matches: (parts: CanonicalParts) => boolean,
): string {
  const missing = signed.signedHeaders.filter((name) => !signed.headers.values.has(name))
  if (signed.query.length > partsMax || signed.signedHeaders.length > partsMax)
    return 'it has too many parts to be diagnosed'
  let tries = 0
  for (const { says, parts } of candidates(signed, rawQuery, missing)) {
    if (matches(parts)) return says
    if (++tries === triesMax) break
  }
  if (missing.length > 0) return `the signed header ${missing.join(', ')} was removed on the way`
  return `no change of the request on the way that is known explains it: the secret key is another one, or something changed one of the signed headers ${signed.signedHeaders.join(', ')}; holdfast doctor, from where the client is, finds out which`
}

function* candidates(signed: CanonicalParts, rawQuery: string, missing: readonly string[]): Generator<Candidate> {
  // What lacks a header can match only with it.
  if (missing.length === 0) {
    yield* otherMethods(signed)
    yield* otherHosts(signed)
    yield* otherPaths(signed)
    yield* otherQueries(signed, rawQuery)
    yield* otherPayloads(signed)
  }
  yield* otherHeaders(signed, missing)
}

function* otherMethods(signed: CanonicalParts): Generator<Candidate> {
  if (signed.method !== 'GET') return
  const says = 'it was signed for HEAD: a proxy turns HEAD into GET (nginx: proxy_cache_convert_head off)'
  yield { says, parts: { ...signed, method: 'HEAD' } }
}

const usualPorts = ['80', '443', '9000']

function* otherHosts(signed: CanonicalParts): Generator<Candidate> {
  const { values } = signed.headers
  const received = values.get('host') ?? ''
  const named = [
    values.get('x-forwarded-host'),
    /host="?([^;,"]+)/i.exec(values.get('forwarded') ?? '')?.[1],
    values.get('x-original-host'),
  ]
  const told = named.flatMap((host) => (host === undefined ? [] : [host.split(',')[0]?.trim() ?? '']))
  const seen = new Set([received])
  for (const host of [received, ...told]) {
    const plain = host.replace(/:\d+$/, '')
    for (const name of [host, plain, ...usualPorts.map((port) => `${plain}:${port}`)]) {
      if (seen.has(name)) continue
      seen.add(name)
      const says = `it was signed for the host ${name}, and arrived with the host ${received}: let the proxy pass the Host on, trust it with --trusted-proxy, or name --public-endpoint`
      yield { says, parts: withHeader(signed, 'host', name) }
    }
  }
  const [, bucket = '', rest = ''] = /^\/([^/]+)(.*)$/.exec(signed.rawPath) ?? []
  if (bucket === '') return
  const says =
    'it was signed with the bucket in the host, and arrived with the bucket in the path: let the proxy pass Host and path on'
  yield { says, parts: { ...withHeader(signed, 'host', `${bucket}.${received}`), rawPath: rest === '' ? '/' : rest } }
}

function* otherPaths(signed: CanonicalParts): Generator<Candidate> {
  const { rawPath } = signed
  const as = (path: string, says: string): Candidate => ({ says, parts: { ...signed, rawPath: path } })
  yield {
    says: 'its path was signed as it is written, as curl does: there, everything but letters, digits and -._~/ needs percent-encoding',
    parts: { ...signed, writtenPath: rawPath },
  }
  const twice = canonicalPath(rawPath).replaceAll('%', '%25')
  yield as(twice, 'its path was encoded twice before it was signed, as other services than S3 want it')
  yield as(rawPath.replaceAll('+', '%20'), 'a plus in its path was signed as a space')
  yield as(rawPath.replaceAll('%20', '+'), 'something on the way turned a plus in its path into a space')
  const decoded = rawPath.replaceAll('%25', '%')
  if (!/%(?![0-9a-f]{2})/i.test(decoded)) yield as(decoded, 'something on the way encoded its path once more')
  yield as(`${rawPath}/`, 'something on the way removed the slash at the end of its path')
  if (rawPath.endsWith('/')) yield as(rawPath.slice(0, -1), 'something on the way added a slash to the end of its path')
  const prefix = signed.headers.values.get('x-forwarded-prefix')
  if (prefix !== undefined && /^\/[!-~]+$/.test(prefix) && !prefix.includes('%')) {
    yield as(prefix.replace(/\/$/, '') + rawPath, `a proxy removed ${prefix} from its path: S3 needs the whole host`)
  }
}

/** How many parameters are left out in turn. */
const parametersMax = 16

function* otherQueries(signed: CanonicalParts, rawQuery: string): Generator<Candidate> {
  const { query } = signed
  const as = (parameters: readonly QueryParameter[], says: string): Candidate => ({
    says,
    parts: { ...signed, query: parameters },
  })
  if (rawQuery.includes('+')) {
    const signature = (name: string): boolean => /^x-(amz|store)-signature$/.test(name)
    const literal = parseQuery(rawQuery.replaceAll('+', '%2B')).filter(({ lowerName }) => !signature(lowerName))
    yield as(literal, 'a plus in its query was signed as a plus; in a query, it means a space')
  }
  for (const [i, { name }] of query.slice(0, parametersMax).entries()) {
    yield as(query.toSpliced(i, 1), `it was signed without the query parameter ${name}: something on the way added it`)
  }
  yield as([], 'it was signed without its query')
}

const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

function* otherPayloads(signed: CanonicalParts): Generator<Candidate> {
  for (const payloadHash of ['UNSIGNED-PAYLOAD', emptySha256, '']) {
    if (payloadHash === signed.payloadHash) continue
    const says = `it was signed with ${payloadHash === '' ? 'no hash' : payloadHash} for its body, and says another in x-amz-content-sha256`
    yield { says, parts: { ...signed, payloadHash } }
  }
}

/** What clients send in headers that proxies like to change. */
const usualValues: Readonly<Record<string, readonly string[]>> = {
  'accept-encoding': [
    'identity',
    'gzip',
    'gzip, deflate',
    'gzip, deflate, br',
    'gzip, deflate, br, zstd',
    'gzip;q=1.0,deflate;q=0.6,identity;q=0.3',
    '',
  ],
  accept: ['*/*', ''],
  connection: ['keep-alive', 'close', 'Keep-Alive', ''],
  'content-length': ['0', ''],
  'content-type': ['application/octet-stream', 'binary/octet-stream', 'application/xml', ''],
  expect: ['100-continue', ''],
  'transfer-encoding': ['chunked', ''],
  te: ['trailers', ''],
}

function* otherHeaders(signed: CanonicalParts, missing: readonly string[]): Generator<Candidate> {
  for (const name of signed.signedHeaders) {
    // With another one missing, no value of this one helps.
    if (missing.some((other) => other !== name)) continue
    const received = signed.headers.values.get(name)
    for (const value of new Set(valuesOf(name, received))) {
      if (value === received) continue
      const says =
        received === undefined
          ? `something on the way removed the signed header ${name}`
          : `something on the way changed the signed header ${name} from ${value === '' ? 'nothing' : `'${value}'`}: keep it, or let the client not sign it`
      yield { says, parts: withHeader(signed, name, value) }
    }
  }
}

/** The values of these never appear in a log. */
const isSecret = (name: string): boolean => /customer-key|security-token|authorization/.test(name)

function valuesOf(name: string, received: string | undefined): string[] {
  const usual = usualValues[name] ?? []
  if (received === undefined || name === 'host' || isSecret(name)) return [...usual]
  const respaced = [received.replace(/, /g, ','), received.replace(/,(?! )/g, ', ')]
  return [...usual, received.replace(/;.*$/, ''), ...respaced, received.toLowerCase()]
}

function withHeader(signed: CanonicalParts, name: string, value: string): CanonicalParts {
  const headers: HeaderIndex = { ...signed.headers, values: new Map(signed.headers.values).set(name, value) }
  return { ...signed, headers }
}
