/** Says that a write copies another bucket's version, and which. S3 has no such header, and other servers ignore it. It must be signed, as vendors' headers are. */
export const replicaHeader = 'x-holdfast-replica'
