/** Under which names results know the servers of ours. */

export const serverNames = {
  one: 'holdfast',
  before: 'holdfast before',
  two: 'holdfast, 2 workers',
  encrypting: 'holdfast, SSE-S3',
  far: 'holdfast over another',
  striping: 'holdfast, 4 + 2',
  overPostgres: 'over PostgreSQL',
  three: 'over PostgreSQL, 3 gateways',
  heldOne: 'one gateway, 0.3 core',
  heldTwo: 'two gateways, 0.3 core each',
  heldThree: 'three gateways, 0.3 core each',
} as const

/** References, which are not ours. */
export const bareNames = { one: 'node-http', three: 'node-http, 3 processes' } as const
