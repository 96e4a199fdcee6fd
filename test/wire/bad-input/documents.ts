/** XML bodies that are not XML, too much of it, or another document than the operation reads. */
import { type BadInput, signedThen } from '../../support/wire-bad-input.ts'
import { md5Base64 } from '../../support/wire-checksums.ts'

const tagging = (body: string | Buffer) => signedThen({ method: 'PUT', path: '/wire', query: [['tagging', '']], body })
const deleting = (body: string) =>
  signedThen({
    method: 'POST',
    path: '/wire',
    query: [['delete', '']],
    headers: [['Content-MD5', md5Base64(body)]],
    body,
  })
const creating = (body: string) => signedThen({ method: 'PUT', path: '/new-bucket', body })

const malformed = (what: string, body: string | Buffer): BadInput => ({
  what: `document ${what}`,
  code: 'MalformedXML',
  send: tagging(body),
})
const badDelete = (what: string, body: string): BadInput => ({
  what: `Delete ${what}`,
  code: 'MalformedXML',
  send: deleting(body),
})

const tag = '<Tag><Key>k</Key><Value>v</Value></Tag>'
const within = (inside: string): string => `<Tagging><TagSet>${inside}</TagSet></Tagging>`
const lol = '<!DOCTYPE Tagging [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
const external = '<!DOCTYPE Tagging [<!ENTITY x SYSTEM "file:///etc/passwd">]>'

export const badDocuments: readonly BadInput[] = [
  malformed('that is not XML', 'nonsense'),
  malformed('in JSON', '{"TagSet":[]}'),
  malformed('of white space', '   \n'),
  malformed('with entities that multiply', `${lol}${within('<Tag><Key>&b;</Key><Value/></Tag>')}`),
  malformed('with an entity outside of it', `${external}${within('<Tag><Key>&x;</Key><Value/></Tag>')}`),
  malformed('with an empty DOCTYPE', `<!DOCTYPE Tagging>${within(tag)}`),
  malformed('with an entity that nobody defined', within('<Tag><Key>&mine;</Key><Value/></Tag>')),
  malformed('with a processing instruction', `<?evil run?>${within(tag)}`),
  malformed('with a reference to NUL', within('<Tag><Key>&#0;</Key><Value/></Tag>')),
  malformed('with a reference beyond Unicode', within('<Tag><Key>&#x110000;</Key><Value/></Tag>')),
  malformed('with a reference to half a character', within('<Tag><Key>&#xD800;</Key><Value/></Tag>')),
  malformed('with a bare ampersand', within('<Tag><Key>a&b</Key><Value/></Tag>')),
  malformed('with a raw control character', within('<Tag><Key>a\u0001b</Key><Value/></Tag>')),
  malformed('with bytes that are not UTF-8', Buffer.from(within('<Tag><Key>\xff\xfe</Key><Value/></Tag>'), 'latin1')),
  malformed('with overlong UTF-8', Buffer.from(within('<Tag><Key>\xc0\xaf</Key><Value/></Tag>'), 'latin1')),
  malformed('in UTF-16', Buffer.from(`\ufeff${within(tag)}`, 'utf16le')),
  malformed('that says it is in Latin-1', `<?xml version="1.0" encoding="ISO-8859-1"?>${within(tag)}`),
  malformed('with two roots', within('') + within('')),
  malformed('with text behind its root', `${within('')}more`),
  malformed('with another root', '<Tags/>'),
  malformed('with a root in lower case', '<tagging><tagset/></tagging>'),
  malformed('with a root that has a prefix', '<s:Tagging xmlns:s="x"><s:TagSet/></s:Tagging>'),
  malformed('with an unknown element', within(`${tag}<Owner/>`)),
  malformed('with __proto__', within('<Tag><__proto__>x</__proto__><Key>k</Key><Value/></Tag>')),
  malformed('with constructor', within('<constructor/>')),
  malformed('with an element that may come once twice', within('<Tag><Key>a</Key><Key>b</Key><Value/></Tag>')),
  malformed('with an element missing', within('<Tag><Value/></Tag>')),
  malformed('with text between elements', within(`${tag}text`)),
  malformed('with an element inside text', within('<Tag><Key><b>k</b></Key><Value/></Tag>')),
  malformed('that crosses its elements', '<Tagging><TagSet></Tagging></TagSet>'),
  malformed('that breaks off', '<Tagging><TagSet><Tag><Key>k'),
  malformed('with an attribute twice', '<Tagging a="1" a="2"><TagSet/></Tagging>'),
  malformed('with an attribute without quotes', '<Tagging a=1><TagSet/></Tagging>'),
  malformed('of 1,000 levels', `${'<Tagging>'.repeat(1000)}${'</Tagging>'.repeat(1000)}`),
  malformed('of 120,000 elements, each of them well-formed', within(tag.repeat(40_000))),
  {
    what: 'document of 3 MiB',
    code: 'MaxMessageLengthExceeded',
    send: tagging(within(`<!--${'x'.repeat(3 * 1024 * 1024)}-->`)),
  },
  { what: 'document missing', code: 'MissingRequestBodyError', send: tagging('') },
  badDelete('of nothing', '<Delete></Delete>'),
  badDelete('with an object without key', '<Delete><Object/></Delete>'),
  badDelete('with Quiet that is neither', '<Delete><Object><Key>a</Key></Object><Quiet>perhaps</Quiet></Delete>'),
  badDelete('with Quiet twice', '<Delete><Quiet>true</Quiet><Quiet>true</Quiet><Object><Key>a</Key></Object></Delete>'),
  badDelete('of 1,001 objects', `<Delete>${'<Object><Key>k</Key></Object>'.repeat(1001)}</Delete>`),
  badDelete(
    'with a raw control character in CDATA',
    '<Delete><Object><Key><![CDATA[a\u0001]]></Key></Object></Delete>',
  ),
  {
    what: 'Delete without digest',
    code: 'InvalidRequest',
    send: signedThen({
      method: 'POST',
      path: '/wire',
      query: [['delete', '']],
      body: '<Delete><Object><Key>a</Key></Object></Delete>',
    }),
  },
  { what: 'configuration of another document', code: 'MalformedXML', send: creating('<Tagging><TagSet/></Tagging>') },
  {
    what: 'configuration of an unknown location',
    code: 'InvalidLocationConstraint',
    send: creating(
      '<CreateBucketConfiguration><LocationConstraint>moon</LocationConstraint></CreateBucketConfiguration>',
    ),
  },
  {
    what: 'configuration of a location with a name of 2 MB, each character of which an answer would escape',
    code: 'MalformedXML',
    send: creating(
      `<CreateBucketConfiguration><LocationConstraint>${'"'.repeat(2_000_000)}</LocationConstraint></CreateBucketConfiguration>`,
    ),
  },
  {
    what: 'configuration with an unknown element',
    code: 'MalformedXML',
    send: creating('<CreateBucketConfiguration><Region>x</Region></CreateBucketConfiguration>'),
  },
]
