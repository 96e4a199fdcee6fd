/** How long functions are, read off the syntax tree: no longer than one screen shows. */
import { parseAst } from 'vitest/node'
import type { SourceFile } from './source-file.ts'

const functionLinesMax = 60

/** As the parser gives it: a tree of records with a type. */
interface Node {
  type: string
  start: number
  end: number
  [property: string]: unknown
}

export function findLongFunctions(files: readonly SourceFile[], linesMax = functionLinesMax): string[] {
  return files.flatMap(({ path, text }) =>
    functionsOf(path, text)
      .filter(({ lines }) => lines > linesMax)
      .map(({ name, lines }) => `${path}: ${name} has ${lines} lines, of ${linesMax}`),
  )
}

interface FunctionLines {
  name: string
  lines: number
}

function functionsOf(path: string, text: string): FunctionLines[] {
  const found: FunctionLines[] = []
  const lineOf = (place: number): number => text.slice(0, place).split('\n').length
  const visit = (value: unknown, name: string): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, name)
    if (!isNode(value)) return
    const own = nameOf(value) ?? name
    if (isFunction(value)) found.push({ name: own, lines: lineOf(value.end) - lineOf(value.start) + 1 })
    for (const property in value) visit(value[property], isFunction(value) ? 'a function without name' : own)
  }
  visit(parseAst(text, { lang: path.endsWith('.tsx') ? 'tsx' : 'ts' }), 'a function without name')
  return found
}

const isFunction = ({ type }: Node): boolean =>
  /^(?:Function(?:Declaration|Expression)|ArrowFunctionExpression)$/.test(type)

/** A function goes by its own name, or by that of the variable, property or method that it is. */
function nameOf({ id, key }: Node): string | undefined {
  for (const named of [id, key]) if (isNode(named) && typeof named.name === 'string') return named.name
  return undefined
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
