/** Under which names results know the servers of ours. */

export const serverNames = {
  one: 'holdfast',
  before: 'holdfast before',
  two: 'holdfast, 2 workers',
  encrypting: 'holdfast, SSE-S3',
  striping: 'holdfast, 4 + 2',
} as const
