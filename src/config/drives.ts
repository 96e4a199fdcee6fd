/** Refuses MinIO's notation for several drives, and shows the equivalent configuration. Pure. */

const ellipsis = /\{(?<from>\d+)\.\.\.(?<to>\d+)\}/
const drivesMax = 256

/** Expands `/mnt/d{1...4}` to four drives. `undefined`: the notation can't be read. */
function expandDrives(words: readonly string[]): string[] | undefined {
  const drives: string[] = []
  const left = [...words]
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const found = ellipsis.exec(word)
    if (found === null) {
      drives.push(word)
      continue
    }
    const { from = '', to = '' } = found.groups ?? {}
    const count = Number(to) - Number(from) + 1
    if (!(count >= 1) || count + left.length + drives.length > drivesMax) return undefined
    const numbers = Array.from({ length: count }, (_, i) => `${Number(from) + i}`.padStart(from.length, '0'))
    left.unshift(...numbers.map((number) => word.replace(ellipsis, number)))
  }
  return drives
}

/** Whether the text means more than one drive to MinIO. */
export function namesSeveralDrives(text: string): boolean {
  return /\{\w+\.\.\.\w+\}/.test(text) || /\s(?:\/|https?:)/.test(text.trim())
}

/** The refusal, with the configuration to write instead. */
export function drivesRefusal(words: readonly string[]): string {
  const drives = expandDrives(words.flatMap((word) => word.trim().split(/\s+(?=\/|https?:)/)))
  const intro = 'a server has one data directory here; a location spreads data over several drives'
  if (drives === undefined || drives.some((drive) => /^https?:/.test(drive) || drive.includes('...'))) {
    return `${intro} of one machine. Name them as [stores.NAME] in a file for --config`
  }
  return `${intro}. Write this to holdfast.toml, and name it by \`--config holdfast.toml\` instead of the drives:\n\n${drivesToml(drives)}`
}

function drivesToml(drives: readonly string[]): string {
  const names = drives.map((_, i) => `drive${i + 1}`)
  return [
    'data = "./data"  # metadata',
    'defaultLocation = "drives"',
    '',
    ...drives.flatMap((path, i) => [
      `[stores.${names[i]}]`,
      'type = "directory"',
      `path = ${JSON.stringify(path)}`,
      '',
    ]),
    '[locations.drives]',
    ...scheme(drives.length),
    `stores = ${JSON.stringify(names).replaceAll(',', ', ')}`,
  ].join('\n')
}

/** The parity that MinIO uses for this number of drives. */
function scheme(drives: number): string[] {
  if (drives < 3) return ['scheme = "replica"', `copies = ${drives}`]
  const width = Math.min(drives, 16)
  const parity = Math.min(4, Math.floor(width / 2))
  return ['scheme = "erasure"', `data = ${width - parity}`, `parity = ${parity}`]
}
