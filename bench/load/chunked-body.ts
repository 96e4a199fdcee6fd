/** Finds the end of an answer's body in chunks (RFC 9112, section 7.1). Keeps nothing of it. */

type Place = 'size' | 'data' | 'after data' | 'trailers'

const newline = 0x0a

export class ChunkedBody {
  /** Bytes of data in the chunks so far. */
  dataBytes = 0
  #place: Place = 'size'
  #line = ''
  #left = 0

  /** Whether the body ends within these bytes. Throws when they are not chunks. */
  take(bytes: Buffer): boolean {
    let at = 0
    while (at < bytes.length) {
      if (this.#place === 'data') {
        const taken = Math.min(this.#left, bytes.length - at)
        this.#left -= taken
        this.dataBytes += taken
        at += taken
        if (this.#left === 0) this.#place = 'after data'
        continue
      }
      const end = bytes.indexOf(newline, at)
      this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end)
      if (end < 0) return false
      at = end + 1
      if (this.#endLine()) return true
    }
    return false
  }

  #endLine(): boolean {
    const line = this.#line.trimEnd()
    this.#line = ''
    if (this.#place === 'after data') this.#place = 'size'
    else if (this.#place === 'trailers') return line === ''
    else {
      if (!/^[0-9a-f]+/i.test(line)) throw new Error(`a chunk cannot have the size '${line}'`)
      this.#left = Number.parseInt(line, 16)
      this.#place = this.#left === 0 ? 'trailers' : 'data'
    }
    return false
  }
}
