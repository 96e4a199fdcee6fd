/** The headers by which a write says of what it is a copy. S3 has none like them, and other servers ignore them. They must be signed, as vendors' headers are. */

/** Names the version of another bucket that the write copies. */
export const replicaHeader = 'x-holdfast-replica'

/** When the original was written, which becomes the `Last-Modified` of the copy. */
export const originalTimeHeader = 'x-holdfast-last-modified'

export const isCopyHeader = (name: string): boolean => name === replicaHeader || name === originalTimeHeader
