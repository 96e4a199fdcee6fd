/** Names of objects in an archive: each of its own, and none that leads out of the folder into which it is unpacked, on whatever system. Pure. */

/** Control characters, and what is a slash elsewhere. */
const unwelcome = /\p{Cc}|\\/gu

/** Parts that mean another folder, or none, become names; so do backslashes and drives, which are paths where the archive may be unpacked. */
export function archiveName(key: string): string {
  return key
    .replaceAll(unwelcome, '_')
    .replace(/^([A-Za-z]):/, '$1_')
    .split('/')
    .map((part) => (/^\.{0,2}$/.test(part) ? '_'.repeat(Math.max(1, part.length)) : part))
    .join('/')
}

export class ArchiveNames {
  readonly #given = new Set<string>()

  /** Several keys, or versions of one, can come to the same name: the later ones get a number. */
  nameOf(key: string): string {
    const wanted = archiveName(key)
    const [, stem = '', ending = ''] = /^(.*?)((?:\.[^./]*)?)$/s.exec(wanted) ?? []
    let name = wanted
    for (let number = 2; this.#given.has(name); number++) name = `${stem} (${number})${ending}`
    this.#given.add(name)
    return name
  }
}
