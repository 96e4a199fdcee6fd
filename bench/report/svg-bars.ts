/** Writes a chart of horizontal bars as SVG that can be read on light and on dark ground. Knows nothing of what is shown. */

export interface Bar {
  label: string
  value: number
  /** How the value is written behind the bar. */
  text: string
  /** Bars of one kind have one colour. */
  kind: number
}

export interface BarGroup {
  title: string
  bars: readonly Bar[]
}

const width = 760
const labelWidth = 190
const valueWidth = 110
const barHeight = 16
const barStep = 20
const titleStep = 26
const margin = 12

/** Told apart by people who see few colours, too (Okabe and Ito). */
const colours = ['#0072b2', '#56b4e9', '#e69f00', '#009e73', '#cc79a7', '#d55e00']

/** Bars are drawn to the scale of their own group. */
export function svgBars(title: string, groups: readonly BarGroup[]): string {
  const parts: string[] = []
  let y = margin + titleStep
  for (const group of groups) {
    parts.push(text(margin, y + 14, 'group', group.title))
    y += titleStep
    const most = Math.max(...group.bars.map(({ value }) => value))
    for (const bar of group.bars) {
      parts.push(...drawn(bar, y, most))
      y += barStep
    }
    y += margin
  }
  const height = y + margin
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${style()}</style>`,
    text(margin, margin + 14, 'title', title),
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function drawn({ label, value, text: shown, kind }: Bar, y: number, most: number): string[] {
  const room = width - labelWidth - valueWidth - 2 * margin
  const length = most > 0 ? Math.max(1, (value / most) * room) : 1
  const left = margin + labelWidth
  return [
    text(left - 8, y + 12, 'label', label),
    `<rect class="k${kind % colours.length}" x="${left}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" rx="2"/>`,
    text(left + length + 6, y + 12, 'value', shown),
  ]
}

function style(): string {
  return [
    'text{font:12px system-ui,sans-serif;fill:#1f2328}',
    '.title{font-size:15px;font-weight:600}.group{font-weight:600}.label{text-anchor:end}.value{fill:#57606a}',
    ...colours.map((colour, kind) => `.k${kind}{fill:${colour}}`),
    '@media(prefers-color-scheme:dark){text{fill:#e6edf3}.value{fill:#9da7b1}}',
  ].join('')
}

function text(x: number, y: number, name: string, content: string): string {
  return `<text class="${name}" x="${x.toFixed(1)}" y="${y}">${escaped(content)}</text>`
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
