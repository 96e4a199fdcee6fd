/** Ids of batches: of a segment, or of a directory of large files. Pure. */
const kinds = ['segment', 'files'] as const
export type BatchKind = (typeof kinds)[number]

const batchName = /^(segment|files)-([0-9a-f]{32})$/

export function batchIdOf(kind: BatchKind, id: string): string {
  return `${kind}-${id}`
}

export function parseBatchId(batchId: string): { kind: BatchKind; id: string } | undefined {
  const [, name, id] = batchName.exec(batchId) ?? []
  const kind = kinds.find((known) => known === name)
  return kind === undefined || id === undefined ? undefined : { kind, id }
}
