/** Finds the known word nearest to a mistyped one. Pure. */
import { editDistance } from '../edit-distance.ts'

/** Returns `; did you mean 'listen'?`, or nothing when no known word is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  let nearest: string | undefined
  let nearestDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < nearestDistance) {
      nearest = candidate
      nearestDistance = distance
    }
  }
  return nearest === undefined ? '' : `; did you mean '${nearest}'?`
}
