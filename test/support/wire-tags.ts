/** Tag sets as documents, and the ways in which they can be wrong, for the tests of bucket and object tags. */
import type { ErrorCode } from '../../src/errors.ts'

export type TagPair = readonly [key: string, value: string]

export const tags = (count: number): TagPair[] => Array.from({ length: count }, (_, i) => [`key${i}`, `value${i}`])

export function tagging(pairs: readonly TagPair[]): string {
  const elements = pairs.map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`)
  return `<Tagging><TagSet>${elements.join('')}</TagSet></Tagging>`
}

export const badTagSets: readonly { what: string; body: string; code: ErrorCode }[] = [
  {
    what: 'two tags of one key',
    body: tagging([
      ['a', '1'],
      ['a', '2'],
    ]),
    code: 'InvalidTag',
  },
  { what: 'an empty key', body: tagging([['', '1']]), code: 'InvalidTag' },
  { what: 'a key of 129 characters', body: tagging([['k'.repeat(129), '']]), code: 'InvalidTag' },
  { what: 'a value of 257 characters', body: tagging([['k', 'v'.repeat(257)]]), code: 'InvalidTag' },
  { what: "a key of the system's", body: tagging([['aws:mine', '1']]), code: 'InvalidTag' },
  { what: 'a key with a character that tags cannot hold', body: tagging([['a*b', '1']]), code: 'InvalidTag' },
  { what: 'a value with a character that tags cannot hold', body: tagging([['a', '1;2']]), code: 'InvalidTag' },
  {
    what: 'a tag without a value',
    body: '<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>',
    code: 'MalformedXML',
  },
  { what: 'an unknown element', body: '<Tagging><TagSet/><More/></Tagging>', code: 'MalformedXML' },
  { what: 'another root', body: '<TagSet/>', code: 'MalformedXML' },
  { what: 'a document that breaks off', body: '<Tagging><TagSet>', code: 'MalformedXML' },
  { what: 'no body', body: '', code: 'MissingRequestBodyError' },
]
