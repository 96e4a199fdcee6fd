/** What a header may contain: RFC 9110 sections 5.1 and 5.5. Values are Latin-1 strings, one character a byte. */

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

export function isHeaderName(name: string): boolean {
  return token.test(name)
}

/** Bytes above ASCII are allowed, control characters other than the tab are not. */
export function isHeaderValue(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    if (!isAllowed(value.charCodeAt(i))) return false
  }
  return true
}

function isAllowed(code: number): boolean {
  return (code >= 0x20 && code < 0x7f) || code === 0x09 || (code >= 0x80 && code <= 0xff)
}

/**
 * The value as it can be sent: nearly always itself. Text beyond Latin-1 is sent as its UTF-8 bytes; control characters, which would end
 * the header, are left out. A client's stored text must never make reading it fail.
 */
export function sendableValue(value: string): string {
  if (isHeaderValue(value)) return value
  const bytes = Buffer.from(value, hasWideCharacters(value) ? 'utf8' : 'latin1')
  return Buffer.from(bytes.filter(isAllowed)).toString('latin1')
}

function hasWideCharacters(value: string): boolean {
  for (let i = 0; i < value.length; i++) if (value.charCodeAt(i) > 0xff) return true
  return false
}
