/** Names of objects in an archive. Each is unique, and none leads out of the folder in which it is unpacked, on any system. Pure. */

/** Control characters, and characters that are slashes on other systems. */
const unwelcome = /\p{Cc}|\\/gu

/** Replaces parts that mean another folder or none, and also backslashes and drives, because some systems take them for paths. */
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

  /** Several keys, or versions of one key, can get the same name. A number distinguishes the later ones. */
  nameOf(key: string): string {
    const wanted = archiveName(key)
    const [, stem = '', ending = ''] = /^(.*?)((?:\.[^./]*)?)$/s.exec(wanted) ?? []
    let name = wanted
    for (let number = 2; this.#given.has(name); number++) name = `${stem} (${number})${ending}`
    this.#given.add(name)
    return name
  }
}
