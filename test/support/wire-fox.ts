/** The object that rows of reading ask for. */
import { md5Hex } from './wire-checksums.ts'
import type { Wire } from './wire-client.ts'
import type { Facts } from './wire-rows.ts'

export type ReadMethod = 'GET' | 'HEAD'

export const foxText = 'The quick brown fox'
export const foxEtag = `"${md5Hex(foxText)}"`

/** An object whose Last-Modified is a fact. */
export async function fox(wire: Wire): Promise<Facts> {
  await wire.must({ method: 'PUT', key: 'fox', body: foxText, headers: { 'Content-Type': 'text/plain' } })
  const { headers } = await wire.must({ method: 'HEAD', key: 'fox' })
  return { lastModified: headers.get('last-modified') ?? '' }
}

export const emptyFox = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', key: 'fox', body: '' })
}
