/** Source files as the house rules see them: without comments, without the contents of strings, and with what they import. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, sep } from 'node:path'

export interface SourceFile {
  /** Relative to the root that was read, with `/`. */
  path: string
  text: string
  /** The text with comments blanked. */
  code: string
  /** The text with comments and the contents of strings and regular expressions blanked. As long as `code`. */
  bare: string
  imports: Import[]
}

export interface Import {
  /** As written. */
  specifier: string
  /** Path of a file of ours, relative to the root; `undefined` for packages. */
  target: string | undefined
  /** Names the file of a process of our own to start. It is used, and nothing of it is seen. */
  starts: boolean
}

export function sourceFile(path: string, text: string): SourceFile {
  const { code, bare } = blank(text)
  return { path, text, code, bare, imports: importsOf(path, code, bare) }
}

/** Every file under `root` whose name ends with `extension`. */
export function readSources(root: string, extension = '.ts'): SourceFile[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .sort()
    .map((name) => sourceFile(name.split(sep).join('/'), readFileSync(join(root, name), 'utf8')))
}

function importsOf(path: string, code: string, bare: string): Import[] {
  const found: Import[] = []
  for (const match of bare.matchAll(/\b(?:from|import)\s*\(?\s*(['"])/g)) {
    const start = match.index + match[0].length
    const end = bare.indexOf(match[1] ?? "'", start)
    const specifier = code.slice(start, end)
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined
    found.push({ specifier, target, starts: false })
  }
  for (const [, specifier = ''] of code.matchAll(/\bnew URL\(\s*'(\.[^']*)\.js'/g)) {
    found.push({ specifier, target: posix.join(posix.dirname(path), `${specifier}.ts`), starts: true })
  }
  return found
}

/** Words after which a slash begins a regular expression, and not a division. */
const wordsBeforeExpression = /\b(?:return|typeof|case|in|of|void|delete|throw|new|await|yield)$/

/** Blanks comments (in both) and literals (in `bare`), keeping every line and column where it was. */
function blank(text: string): { code: string; bare: string } {
  let code = ''
  let bare = ''
  /** Open braces of the code around the place, one count for each template literal that the code stands in. */
  const braces: number[] = []
  let at = 0

  const keep = (end: number): void => {
    code += text.slice(at, end)
    bare += text.slice(at, end)
    at = end
  }
  const spaces = (from: number, to: number): string => text.slice(from, to).replace(/[^\n]/g, ' ')
  const literal = (end: number): void => {
    code += text.slice(at, end)
    bare += spaces(at, end)
    at = end
  }
  const comment = (end: number): void => {
    code += spaces(at, end)
    bare += spaces(at, end)
    at = end
  }
  const template = (): void => {
    const end = endOfTemplateText(text, at)
    literal(end)
    if (text[at] === '`') keep(at + 1)
    else {
      keep(at + 2)
      braces.push(0)
    }
  }

  while (at < text.length) {
    const two = text.slice(at, at + 2)
    const char = text[at] ?? ''
    const depth = braces.at(-1)
    if (two === '//') comment(endOrLength(text, text.indexOf('\n', at)))
    else if (two === '/*') comment(endOrLength(text, text.indexOf('*/', at + 2) + 2, 1))
    else if (char === "'" || char === '"') {
      keep(at + 1)
      literal(endOfQuoted(text, at, char))
      keep(at + 1)
    } else if (char === '`') {
      keep(at + 1)
      template()
    } else if (char === '/' && beginsExpression(bare)) {
      keep(at + 1)
      literal(endOfRegExp(text, at))
      keep(at + 1)
    } else if (char === '}' && depth === 0) {
      braces.pop()
      keep(at + 1)
      template()
    } else {
      if (depth !== undefined && char === '{') braces[braces.length - 1] = depth + 1
      if (depth !== undefined && char === '}') braces[braces.length - 1] = depth - 1
      keep(at + 1)
    }
  }
  return { code, bare }
}

/** `end`, or the text's end when nothing was found: `end` is then below `least`. */
function endOrLength(text: string, end: number, least = 0): number {
  return end <= least - 1 || end < 0 ? text.length : end
}

function beginsExpression(before: string): boolean {
  const last = before.trimEnd()
  return last === '' || /[^\w$)\]}'"`]$/.test(last) || wordsBeforeExpression.test(last)
}

function endOfQuoted(text: string, from: number, quote: string): number {
  let at = from
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1
  return Math.min(at, text.length)
}

function endOfTemplateText(text: string, from: number): number {
  let at = from
  while (at < text.length && text[at] !== '`' && text.slice(at, at + 2) !== '${') at += text[at] === '\\' ? 2 : 1
  return Math.min(at, text.length)
}

function endOfRegExp(text: string, from: number): number {
  let at = from
  let inClass = false
  while (at < text.length && (inClass || text[at] !== '/')) {
    if (text[at] === '[') inClass = true
    if (text[at] === ']') inClass = false
    at += text[at] === '\\' ? 2 : 1
  }
  return Math.min(at, text.length)
}
