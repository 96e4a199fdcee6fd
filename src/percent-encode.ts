/** Percent-encoding as RFC 3986 and Signature Version 4 define it: everything but letters, digits and `-._~`. Pure. */

/** `encodeURIComponent` leaves five reserved characters as they are. */
export const percentEncode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** A query without its question mark. Parameters without a value are left out. */
export const percentEncodeQuery = (query: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(query)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${percentEncode(name)}=${percentEncode(value)}`]))
    .join('&')
