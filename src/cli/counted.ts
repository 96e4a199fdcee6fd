/** A number of things in words: `1 blob`, `2 blobs`. */

export const counted = (amount: number, one: string, several = `${one}s`): string =>
  `${amount} ${amount === 1 ? one : several}`
