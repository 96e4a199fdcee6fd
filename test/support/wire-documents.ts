/** Documents as requests carry them, and rows that every operation with one shares: how it can be wrong, and the digests that vouch for it. */
import { md5Base64, referenceChecksum } from './wire-checksums.ts'
import type { Ask } from './wire-client.ts'
import { type Row, refusal } from './wire-rows.ts'

export type DocumentAsk = Omit<Ask, 'body'> & { method: 'PUT'; body: string }

/** With the digest that S3 asks of documents that lock or delete. */
export function putDocument(query: Record<string, string>, body: string, key = ''): DocumentAsk {
  return { method: 'PUT', key, query, body, headers: { 'Content-MD5': md5Base64(body) } }
}

/** `ask` is answered with 200 in what `given` makes. What is refused must leave all as `unchanged` finds it. */
export function documentRows(
  { headers: _, ...ask }: DocumentAsk,
  given: Row['given'],
  unchanged: NonNullable<Row['afterwards']>,
  { digestRequired }: { digestRequired: boolean | 'by AWS' },
): Row[] {
  const { body } = ask
  const prepared = given === undefined ? {} : { given }
  const keeps = { ...prepared, afterwards: unchanged }
  const documents: [what: string, body: string][] = [
    ['a document that breaks off', body.slice(0, -3)],
    ['another root', '<Another/>'],
    ['an unknown element', body.replace(/(<\/\w+>)$/, '<More/>$1')],
    ['what is not XML', 'Enabled'],
    ['a document type', `<!DOCTYPE x>${body}`],
  ]
  const another = md5Base64('another')
  const wrong = refusal('BadDigest', { ExpectedDigest: another, CalculatedDigest: md5Base64(body) })
  const malformed = refusal('InvalidDigest', { 'Content-MD5': 'x' })
  const wrongChecksum = { vendor: { 'checksum-sha256': referenceChecksum('SHA256', 'another') } }
  const badDigests: [what: string, refused: ReturnType<typeof refusal>, more: Partial<Ask>][] = [
    ['a wrong Content-MD5', wrong, { headers: { 'Content-MD5': another } }],
    ['a malformed Content-MD5', malformed, { headers: { 'Content-MD5': 'x' } }],
    ['a wrong checksum', refusal('BadDigest', {}), wrongChecksum],
    ['a malformed checksum', refusal('InvalidRequest', {}), { vendor: { 'checksum-sha256': 'AAAA' } }],
  ]
  const goodDigests: [what: string, more: Partial<Ask>][] = [
    ['the right Content-MD5', { headers: { 'Content-MD5': md5Base64(body) } }],
    ['the right checksum', { vendor: { 'checksum-crc32c': referenceChecksum('CRC32C', body) } }],
  ]
  return [
    { it: 'refuses no body', ...keeps, ...refusal('MissingRequestBodyError', {}), ask: { ...ask, body: '' } },
    ...documents.map(
      ([what, document]): Row => ({
        it: `refuses ${what}`,
        ...keeps,
        ...refusal('MalformedXML'),
        ask: { ...ask, body: document, headers: { 'Content-MD5': md5Base64(document) } },
      }),
    ),
    ...badDigests.map(
      ([what, refused, more]): Row => ({
        it: `refuses ${what}`,
        ...keeps,
        ...refused,
        ask: { ...ask, ...more },
      }),
    ),
    ...goodDigests.map(
      ([what, more]): Row => ({ it: `accepts ${what}`, ...prepared, status: 200, ask: { ...ask, ...more } }),
    ),
    digestRequired === 'by AWS'
      ? {
          it: 'takes a document without any digest in the dialect of the interface document alone',
          ...prepared,
          status: 200,
          ask,
          answerIn: { 'x-amz-': { ...refusal('InvalidRequest', {}), afterwards: unchanged } },
        }
      : digestRequired
        ? { it: 'refuses a document without any digest', ...keeps, ...refusal('InvalidRequest', {}), ask }
        : { it: 'accepts a document without any digest', ...prepared, status: 200, ask },
  ]
}
