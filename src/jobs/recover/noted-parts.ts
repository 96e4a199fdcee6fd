/** Checks what the note of a completed upload says of its parts when it is read back. */
import { z } from 'zod'
import type { NotedPart } from '../../objects/completion-note.ts'

export const notedPartsSchema: z.ZodType<readonly NotedPart[]> = z.array(
  z.object({ number: z.number(), size: z.number(), etag: z.string() }),
)

/** `undefined`: the bytes say something else. */
export function readNotedParts(bytes: Buffer): readonly NotedPart[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
  return notedPartsSchema.safeParse(value).data
}
