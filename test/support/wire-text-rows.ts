/** Rows that GetObject and HeadObject share: headers whose bytes are not ASCII come back as they were stored, and as the request overrides them. */
import type { Wire } from './wire-client.ts'
import { foxText, type ReadMethod } from './wire-fox.ts'
import type { Row } from './wire-rows.ts'

const asUtf8 = (words: string): string => Buffer.from(words).toString('latin1')

/** Each header that a client may store text in; as UTF-8, and as what is Latin-1 and no UTF-8. */
const texts = {
  'Content-Type': `text/plain; note="${asUtf8('Größe 日本')}"`,
  'Content-Language': 'd\xe9',
  'Content-Disposition': `attachment; filename="${asUtf8('Übung 日本.txt')}\xfc.txt"`,
  'Cache-Control': `private="${asUtf8('Ö')}"`,
  Expires: asUtf8('jamás'),
}

async function storedTexts(wire: Wire): Promise<void> {
  await wire.must({
    method: 'PUT',
    key: 'fox',
    body: foxText,
    headers: texts,
    vendor: { 'meta-size': asUtf8('größe') },
  })
}

export function textRows(method: ReadMethod): Row[] {
  const ask = { method, key: 'fox' } as const
  const vendor = { 'meta-size': asUtf8('größe') }
  const overridden = { 'response-content-disposition': 'inline; filename="Größe.txt"', 'response-expires': 'jamás' }
  const answered = { ...texts, 'Content-Disposition': 'inline; filename="Gr\xf6\xdfe.txt"', Expires: 'jam\xe1s' }
  return [
    {
      it: 'answers text that is not ASCII byte for byte',
      status: 200,
      given: storedTexts,
      ask,
      headers: { ...texts, 'Content-Length': String(foxText.length) },
      vendor,
    },
    {
      it: 'answers text that is not ASCII beside a range',
      status: 206,
      given: storedTexts,
      ask: { ...ask, headers: { Range: 'bytes=0-3' } },
      headers: { ...texts, 'Content-Length': '4' },
      vendor,
    },
    {
      it: 'answers text that is not ASCII through a presigned URL, as the URL overrides it',
      status: 200,
      given: storedTexts,
      ask: { ...ask, presigned: true, query: overridden },
      headers: answered,
      vendor,
    },
    {
      it: 'answers text that is not ASCII beside a range, as the request overrides it',
      status: 206,
      given: storedTexts,
      ask: { ...ask, headers: { Range: 'bytes=0-3' }, query: overridden },
      headers: answered,
      vendor,
    },
  ]
}
