/** Rows that every operation with an XML document shares: how the document can be wrong, and the digests that vouch for it. */
import { md5Base64, referenceChecksum } from './wire-checksums.ts'
import type { Ask } from './wire-client.ts'
import { type Row, refusal } from './wire-rows.ts'

/** `ask` is answered with 200 in what `given` makes. What is refused must leave all as `unchanged` finds it. */
export function documentRows(
  ask: Omit<Ask, 'body'> & { body: string },
  given: Row['given'],
  unchanged: NonNullable<Row['afterwards']>,
): Row[] {
  const { body } = ask
  const keeps = { ...(given === undefined ? {} : { given }), afterwards: unchanged }
  const takes = { ...(given === undefined ? {} : { given }), status: 200 }
  const documents: [what: string, body: string][] = [
    ['a document that breaks off', body.slice(0, -3)],
    ['another root', '<Another/>'],
    ['an unknown element', body.replace(/(<\/\w+>)$/, '<More/>$1')],
    ['what is no XML', 'Enabled'],
    ['a document type', `<!DOCTYPE x>${body}`],
  ]
  const digests: [what: string, code: 'BadDigest' | 'InvalidDigest', more: Partial<Ask>][] = [
    ['a wrong Content-MD5', 'BadDigest', { headers: { 'Content-MD5': md5Base64('another') } }],
    ['a malformed Content-MD5', 'InvalidDigest', { headers: { 'Content-MD5': 'x' } }],
    ['a wrong checksum', 'BadDigest', { vendor: { 'checksum-sha256': referenceChecksum('SHA256', 'another') } }],
    ['a malformed checksum', 'InvalidDigest', { vendor: { 'checksum-sha256': 'AAAA' } }],
  ]
  return [
    { it: 'refuses no body', ...keeps, ...refusal('MissingRequestBodyError', {}), ask: { ...ask, body: '' } },
    ...documents.map(
      ([what, document]): Row => ({
        it: `refuses ${what}`,
        ...keeps,
        ...refusal('MalformedXML'),
        ask: { ...ask, body: document },
      }),
    ),
    ...digests.map(
      ([what, code, more]): Row => ({
        it: `refuses ${what}`,
        ...keeps,
        ...refusal(code, {}),
        ask: { ...ask, ...more },
      }),
    ),
    {
      it: 'accepts the right Content-MD5',
      ...takes,
      ask: { ...ask, headers: { 'Content-MD5': md5Base64(body) } },
    },
    {
      it: 'accepts the right checksum',
      ...takes,
      ask: { ...ask, vendor: { 'checksum-crc32c': referenceChecksum('CRC32C', body) } },
    },
  ]
}
