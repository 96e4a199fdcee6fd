/** A strict parser for the JSON of policies: refuses duplicate keys and deep nesting, and keeps numbers as written. */

export type Json = string | boolean | null | JsonNumber | readonly Json[] | JsonObject
export type JsonObject = ReadonlyMap<string, Json>

/** A number as it is written, because policies compare text. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export class JsonError extends Error {}

/** A policy needs six levels: document, statements, statement, condition, operator, values. */
const depthMax = 8

/** Throws JsonError. */
export function parseJson(text: string): Json {
  const reader = new JsonReader(text)
  return reader.document()
}

/** The same JSON without white space between its tokens. What is no JSON stays none only for a reader of the original. */
export function withoutWhiteSpace(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\[\s\S])*")|[ \t\r\n]+/g, '$1')
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

class JsonReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): Json {
    const value = this.#value(0)
    this.#space()
    if (this.#at < this.#text.length) throw this.#error('something follows its end')
    return value
  }

  #value(depth: number): Json {
    if (depth > depthMax) throw this.#error(`it is nested deeper than ${depthMax}`)
    this.#space()
    const char = this.#text[this.#at]
    if (char === '{') return this.#object(depth)
    if (char === '[') return this.#array(depth)
    if (char === '"') return this.#string()
    if (this.#takesWord('true')) return true
    if (this.#takesWord('false')) return false
    if (this.#takesWord('null')) return null
    number.lastIndex = this.#at
    const [digits] = number.exec(this.#text) ?? []
    if (digits === undefined) throw this.#error('a value is missing')
    this.#at += digits.length
    return new JsonNumber(digits)
  }

  #object(depth: number): JsonObject {
    const entries = new Map<string, Json>()
    this.#at++
    if (this.#takes('}')) return entries
    do {
      this.#space()
      if (this.#text[this.#at] !== '"') throw this.#error('a name is missing')
      const name = this.#string()
      if (entries.has(name)) throw this.#error(`"${name.slice(0, 64)}" is given twice`)
      if (!this.#takes(':')) throw this.#error('a colon is missing')
      entries.set(name, this.#value(depth + 1))
    } while (this.#takes(','))
    if (!this.#takes('}')) throw this.#error('a } is missing')
    return entries
  }

  #array(depth: number): Json[] {
    const items: Json[] = []
    this.#at++
    if (this.#takes(']')) return items
    do items.push(this.#value(depth + 1))
    while (this.#takes(','))
    if (!this.#takes(']')) throw this.#error('a ] is missing')
    return items
  }

  #string(): string {
    let value = ''
    for (let from = ++this.#at; ; this.#at++) {
      const char = this.#text[this.#at]
      if (char === undefined || char < ' ') throw this.#error('a string does not end')
      if (char !== '"' && char !== '\\') continue
      value += this.#text.slice(from, this.#at)
      if (char === '"') {
        this.#at++
        return value
      }
      value += this.#escape()
      from = this.#at + 1
    }
  }

  /** Leaves the position on the escape's last character. */
  #escape(): string {
    const char = this.#text.charAt(++this.#at)
    const plain = escapes[char]
    if (plain !== undefined) return plain
    const hex = this.#text.slice(this.#at + 1, this.#at + 5)
    if (char !== 'u' || !/^[0-9a-fA-F]{4}$/.test(hex)) throw this.#error('an escape is not valid')
    this.#at += 4
    return String.fromCharCode(Number.parseInt(hex, 16))
  }

  #space(): void {
    while (this.#at < this.#text.length && ' \t\r\n'.includes(this.#text.charAt(this.#at))) this.#at++
  }

  #takes(char: string): boolean {
    this.#space()
    if (this.#text[this.#at] !== char) return false
    this.#at++
    return true
  }

  #takesWord(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }

  #error(what: string): JsonError {
    return new JsonError(`${what}, at character ${this.#at + 1}`)
  }
}
