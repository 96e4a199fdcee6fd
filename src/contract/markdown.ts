/** Markdown as the generated pages write it. */

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)]
}

export const code = (text: string): string => `\`${text}\``

export const page = (lines: readonly string[]): string => `${lines.join('\n')}\n`
