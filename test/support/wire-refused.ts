/** Headers that ask for what this server does not keep yet, so that they must be refused by name wherever new data is written. */
export const unkeptHeaders = ['website-redirect-location'] as const
