/** Reads archives whose entries are stored as they are, which is what the console writes. It runs no test by itself. */

/** The bytes of each entry by its name, from the directory at the end. Throws for entries that are compressed or occur twice. */
export function readZip(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'))
  let at = zip.readUInt32LE(end + 16)
  const entries = new Map<string, Buffer>()
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const nameLength = zip.readUInt16LE(at + 28)
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength)
    if (zip.readUInt16LE(at + 10) !== 0) throw new Error(`${name} is compressed`)
    if (entries.has(name)) throw new Error(`${name} is there twice`)
    const bytes = zip.readUInt32LE(at + 24)
    const local = zip.readUInt32LE(at + 42)
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    entries.set(name, zip.subarray(start, start + bytes))
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  return entries
}
