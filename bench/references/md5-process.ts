/** MD5 alone, on one core: `md5-process BYTES SECONDS` hashes bodies of that size and prints bytes a second. */
import { createHash, randomBytes } from 'node:crypto'

const [bytes = 0, seconds = 0] = process.argv.slice(2).map(Number)
const pieceBytes = 1024 * 1024
const piece = randomBytes(Math.min(bytes, pieceBytes))

let hashed = 0
const beganMs = performance.now()
while (performance.now() < beganMs + seconds * 1000) {
  const hash = createHash('md5')
  for (let at = 0; at < bytes; at += piece.length) hash.update(piece)
  hash.digest()
  hashed += bytes
}
process.stdout.write(`${Math.round((hashed * 1000) / (performance.now() - beganMs))}\n`)
