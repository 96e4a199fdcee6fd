/** PostObject over the wire: what a form says of its object, and how it is answered. Who may send one, and forms that are none: form-post.test.ts. */
import { expect } from 'vitest'
import { algorithms, md5Base64, md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { otherKey } from '../support/wire-server.ts'
import { aVersionId, compliant, enabled, vault } from '../support/wire-versions.ts'

/** What S3 replaces by the name of the file. */
const filename = '$' + '{filename}'
const text = 'hello, form'
const etag = `"${md5Hex(text)}"`
const post = (form: Record<string, string> = {}, more: Partial<Ask> = {}): Ask => ({
  method: 'POST',
  form: { key: 'a', ...form },
  body: text,
  ...more,
})
const stored = { status: 204, headers: { ETag: etag } }

const answers =
  (body: string, key = 'a') =>
  async (wire: Wire): Promise<void> => {
    expect((await wire.must({ method: 'GET', key })).body.toString()).toBe(body)
  }
const isNotThere = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(404)
}
/** The object's URL, by whatever name the bucket is addressed. */
const urlOf = ({ style, port }: Wire, path: string): string =>
  style.hosting === 'path' ? `http://127.0.0.1:${port}/wire/${path}` : `http://wire.localhost:${port}/${path}`
const old = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', key: 'a', body: 'old', vendor: { 'meta-age': 'old', tagging: 'age=old' } })
}
const tagsAre =
  (first: string) =>
  async (wire: Wire): Promise<void> => {
    const tags = (await wire.must({ method: 'GET', key: 'a', query: { tagging: '' } })).body.toString()
    expect([...tags.matchAll(/<Key>(.*?)<\/Key><Value>(.*?)</g)].map(([, key, value]) => [key, value])).toEqual([
      ['a', first],
      ['b', ' c'],
    ])
  }
const tagging =
  '<Tagging><TagSet><Tag><Key>a</Key><Value>1&amp;2</Value></Tag><Tag><Key>b</Key><Value> c</Value></Tag></TagSet></Tagging>'
const plainTags = tagging.replace('&amp;', '+')

/** A file of this many bytes under a policy that bounds it. */
const ranged = (bytes: number, min: number, max: number): Ask =>
  post(
    {},
    {
      body: Buffer.alloc(bytes, 'x'),
      formConditions: [{ bucket: 'wire' }, { key: 'a' }, ['content-length-range', min, max]],
    },
  )

const named = (key: string, filename: string | undefined, becomes: string): Row => ({
  it: `puts the file's name ${JSON.stringify(filename)} into the key ${key}`,
  ...stored,
  ask: post({ key }, { formConditions: [{ bucket: 'wire' }, ['starts-with', '$key', '']], formFile: { filename } }),
  afterwards: answers(text, becomes),
})

const rows: Row[] = [
  { it: 'stores the bytes', ...stored, ask: post(), afterwards: answers(text) },
  {
    it: 'stores an empty file',
    status: 204,
    headers: { ETag: `"${md5Hex('')}"` },
    ask: post({}, { body: '' }),
    afterwards: answers(''),
  },
  {
    it: 'replaces the object with all that was stored with it',
    ...stored,
    given: old,
    ask: post(),
    afterwards: async (wire) => {
      const { headers } = await wire.must({ method: 'HEAD', key: 'a' })
      const { prefix } = wire.style
      expect(['meta-age', 'tagging-count'].map((name) => headers.get(prefix + name))).toEqual([undefined, undefined])
    },
  },
  {
    it: 'keeps what the form says of the object, and nothing that the part says of the file',
    ...stored,
    ask: post(
      { 'content-TYPE': 'text/x-form', 'Cache-Control': 'max-age=61', 'x-ignore-me': 'x', other: 'x' },
      {
        vendor: { 'META-Colour': 'grün' },
      },
    ),
    afterwards: async (wire) => {
      const { headers } = await wire.must({ method: 'HEAD', key: 'a' })
      const named = ['content-type', 'cache-control', `${wire.style.prefix}meta-colour`].map((name) =>
        headers.get(name),
      )
      expect(named).toEqual(['text/x-form', 'max-age=61', Buffer.from('grün').toString('latin1')])
    },
  },
  {
    it: 'takes no type from the part',
    ...stored,
    ask: post(),
    afterwards: async (wire) => {
      expect((await wire.must({ method: 'HEAD', key: 'a' })).headers.get('content-type')).toBe('binary/octet-stream')
    },
  },
  named(`${filename}`, 'photo.jpg', 'photo.jpg'),
  named(`of/${filename}/${filename}`, 'photo.jpg', 'of/photo.jpg/photo.jpg'),
  named(`of/${filename}`, 'C:\\folder\\photo.jpg', 'of/photo.jpg'),
  named(`of/${filename}`, '/folder/photo.jpg', 'of/photo.jpg'),
  named('$filename', 'photo.jpg', '$filename'),
  named(`of/${filename}`, undefined, `of/${filename}`),
  named(`${filename}`, 'ключ 1.txt', 'ключ 1.txt'),
  {
    it: 'puts the name of the file into other fields, too',
    ...stored,
    ask: post(
      { 'Content-Disposition': `inline; filename=${filename}` },
      {
        formConditions: [{ bucket: 'wire' }, { key: 'a' }, ['starts-with', '$content-disposition', 'inline']],
      },
    ),
    afterwards: async (wire) => {
      const { headers } = await wire.must({ method: 'HEAD', key: 'a' })
      expect(headers.get('content-disposition')).toBe('inline; filename=file.txt')
    },
  },
  {
    it: 'asks the policy for the name with that of the file',
    ...refusal('AccessDenied', {}),
    ask: post({ key: filename }),
    afterwards: isNotThere,
  },
  { it: 'takes tags as a document', ...stored, ask: post({ tagging: plainTags }), afterwards: tagsAre('1+2') },
  {
    it: 'refuses a tag that S3 would not take',
    ...refusal('InvalidTag'),
    ask: post({ tagging }),
    afterwards: isNotThere,
  },
  ...['', 'a=1', '<Tags/>', '<Tagging><TagSet>'].map(
    (document): Row => ({
      it: `refuses the tags ${JSON.stringify(document)}`,
      ...refusal('MalformedXML'),
      ask: post({ tagging: document }),
      afterwards: isNotThere,
    }),
  ),
  { it: 'takes an ACL that says nothing', ...stored, ask: post({ acl: 'private' }), afterwards: answers(text) },
  {
    it: 'refuses an ACL where there are none',
    ...refusal('AccessControlListNotSupported', {}),
    ask: post({ acl: 'public-read' }),
    afterwards: isNotThere,
  },
  {
    it: 'locks what it is asked to lock, with a digest',
    ...stored,
    given: (wire) => vault(wire),
    vendor: { 'version-id': aVersionId },
    ask: post({ 'Content-MD5': md5Base64(text) }, { vendor: compliant }),
  },
  {
    it: 'locks nothing without a digest',
    ...refusal('InvalidRequest', {}),
    given: (wire) => vault(wire),
    ask: post({}, { vendor: compliant }),
    afterwards: isNotThere,
  },
  {
    it: 'makes a version of its own',
    ...stored,
    given: enabled,
    vendor: { 'version-id': aVersionId },
    ask: post(),
    afterwards: answers(text),
  },
  {
    it: 'writes under conditions',
    ...refusal('PreconditionFailed'),
    given: old,
    ask: post({ 'If-None-Match': '*' }),
    afterwards: answers('old'),
  },
  ...(
    [
      [10, 10, 10, undefined],
      [0, 0, 0, undefined],
      [9, 10, 20, 'EntityTooSmall'],
      [11, 0, 10, 'EntityTooLarge'],
      [300_000, 300_000, 300_000, undefined],
      [300_000, 300_001, 400_000, 'EntityTooSmall'],
      [300_001, 0, 300_000, 'EntityTooLarge'],
      [900_000, 0, 300_000, 'EntityTooLarge'],
    ] as const
  ).map(([bytes, min, max, code]): Row => {
    const bound = code === 'EntityTooSmall' ? { MinSizeAllowed: String(min) } : { MaxSizeAllowed: String(max) }
    const refused = code && refusal(code, { ProposedSize: expect.stringMatching(/^\d+$/), ...bound })
    return {
      it: `${code ?? 'takes'} where a file of ${bytes} bytes must have ${min} to ${max}`,
      ...(refused ?? { status: 204 }),
      given: old,
      ask: ranged(bytes, min, max),
      afterwards: answers(code === undefined ? 'x'.repeat(bytes) : 'old'),
    }
  }),
  ...['200', '204', '302'].map(
    (asked): Row => ({
      it: `answers without a document where the form asks for ${asked}`,
      proves: ['form:success_action_status', 'answer header:Location'],
      status: asked === '200' ? 200 : 204,
      headers: { ETag: etag },
      body: '',
      ask: post({ success_action_status: asked, key: 'a b/c' }),
      afterwards: async (wire, { headers }) => expect(headers.get('location')).toBe(urlOf(wire, 'a%20b/c')),
    }),
  ),
  {
    it: 'answers with a document where the form asks for 201',
    status: 201,
    headers: { ETag: etag, Location: expect.stringMatching(/\/a%20b\/c$/) },
    ask: post({ success_action_status: '201', key: 'a b/c' }),
    xml: {
      PostResponse: {
        Location: expect.stringMatching(/\/a%20b\/c$/),
        Bucket: 'wire',
        Key: 'a b/c',
        ETag: etag,
      },
    },
  },
  ...['success_action_redirect', 'redirect'].flatMap((name) => [
    ...(
      [
        ['https://example.com/done', 'https://example.com/done?'],
        ['http://example.com/?a=1', 'http://example.com/?a=1&'],
      ] as const
    ).map(
      ([url, leads]): Row => ({
        it: `sends the browser to the ${name} ${url}, which is told of the object`,
        proves: [`form:${name}`],
        status: 303,
        headers: { Location: `${leads}bucket=wire&key=a+b%2Fc&etag=%22${md5Hex(text)}%22` },
        body: '',
        ask: post({ [name]: url, key: 'a b/c' }),
      }),
    ),
    ...['', 'done.html', 'javascript:alert(1)'].map(
      (url): Row => ({
        it: `takes the ${name} ${JSON.stringify(url)} for none`,
        ...stored,
        body: '',
        ask: post({ [name]: url }),
        afterwards: async (wire, { headers }) => expect(headers.get('location')).toBe(urlOf(wire, 'a')),
      }),
    ),
  ]),
  ...algorithms.map((algorithm): Row => {
    const name = `checksum-${algorithm.toLowerCase()}`
    const value = referenceChecksum(algorithm, text)
    return {
      it: `answers the ${algorithm} that came`,
      ...stored,
      ask: post({}, { vendor: { [name]: value } }),
      vendor: { [name]: value, 'checksum-type': 'FULL_OBJECT' },
    }
  }),
  {
    it: 'computes the checksum that is named',
    proves: ['vendor:checksum-algorithm', 'vendor:checksum-type'],
    ...stored,
    ask: post({}, { vendor: { 'checksum-algorithm': 'CRC32C', 'checksum-type': 'FULL_OBJECT' } }),
    vendor: { 'checksum-crc32c': referenceChecksum('CRC32C', text), 'checksum-type': 'FULL_OBJECT' },
  },
  {
    it: 'goes on without what it does not know, where the policy allows it',
    ...stored,
    ask: post({ Filename: 'x', submit: 'line\nline' }),
    afterwards: answers(text),
  },
  {
    it: 'is no copy',
    ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}copy-source', ArgumentValue: '/wire/b' }),
    ask: post({}, { vendor: { 'copy-source': '/wire/b' } }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses metadata that no header could carry',
    ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}meta-a' }),
    ask: post({}, { vendor: { 'meta-a': 'b\r\nc' } }),
    afterwards: isNotThere,
  },
  { it: 'needs a bucket', ...refusal('NoSuchBucket', { BucketName: 'wire' }), withoutBucket: true, ask: post() },
  {
    it: 'is not for other accounts',
    ...refusal('AccessDenied', {}),
    ask: post({}, { signedBy: otherKey }),
    afterwards: isNotThere,
  },
  {
    it: 'needs a key',
    ...refusal('InvalidArgument', { ArgumentName: 'key', ArgumentValue: '' }),
    message: 'User key must have a length greater than 0.',
    ask: post({ key: '' }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses a key that is too long',
    ...refusal('KeyTooLongError', { Size: '1025', MaxSizeAllowed: '1024' }),
    ask: post({ key: 'k'.repeat(1025) }),
  },
]

wireTests('PostObject', rows)
