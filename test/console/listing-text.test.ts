/** Pages of listings, read from their text. */
import { describe, expect, it } from 'vitest'
import { elementsOf, listingContent, textIn } from '../../console/src/api/listing-text.ts'

const page = `<?xml version="1.0" encoding="UTF-8"?>
<ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix/><IsTruncated>true</IsTruncated><Version><Key>a%3C</Key><Size>7</Size><Owner><ID>o</ID></Owner></Version><DeleteMarker><Key>b</Key></DeleteMarker><Version>
<Key>c</Key><ETag>&quot;x&#x41;&#66;&amp;lt;&quot;</ETag></Version><CommonPrefixes><Prefix>p%2F</Prefix></CommonPrefixes></ListVersionsResult>`

describe('a page of a listing', () => {
  const content = listingContent(page, 'ListVersionsResult')

  it('has the elements of all the names asked for, in order', () => {
    const elements = elementsOf(content, 'Version', 'DeleteMarker')
    expect(elements.map(({ name, content }) => [name, textIn(content, 'Key')])).toEqual([
      ['Version', 'a%3C'],
      ['DeleteMarker', 'b'],
      ['Version', 'c'],
    ])
  })

  it('has the text of an element, with its references resolved once', () => {
    expect(textIn(content, 'ETag')).toBe('"xAB&lt;"')
    expect(textIn(content, 'IsTruncated')).toBe('true')
  })

  it('has no text where there is no such element', () => {
    expect(textIn(content, 'NextKeyMarker')).toBeUndefined()
  })

  it.each([
    ['was cut off', page.slice(0, -30)],
    ['is of another kind', page.replaceAll('ListVersionsResult', 'Error')],
  ])('is refused when it %s', (_, text) => {
    expect(() => listingContent(text, 'ListVersionsResult')).toThrow('cannot be read')
  })
})
