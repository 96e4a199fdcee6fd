/** Options about the locations of data, and of copies of the metadata. Part of the table in `options.ts`. */
import { ownLocation } from '../blobs/location-policy.ts'
import { limits } from '../limits.ts'
import { count, durationOrNever, formatDuration, locationName } from './kinds.ts'

export interface DataSettings {
  defaultLocation: string
  /** Absent: snapshots are taken only on request. */
  snapshotIntervalMs: number | undefined
  snapshotsKept: number
}

export const dataOptions = {
  defaultLocation: {
    flag: 'default-location',
    environment: ['HOLDFAST_DEFAULT_LOCATION'],
    toml: 'defaultLocation',
    kind: locationName,
    initial: [ownLocation],
    summary:
      'Location of buckets that are created without one, or with the name of a cloud region. `default` is the location in the data directory; where the metadata is shared, there is none of that name.',
  },
}

export const snapshotOptions = {
  snapshotIntervalMs: {
    flag: 'snapshot-interval',
    environment: ['HOLDFAST_SNAPSHOT_INTERVAL'],
    toml: 'snapshots.interval',
    kind: durationOrNever(1000),
    initial: [formatDuration(limits.snapshotIntervalMs)],
    summary: 'Time between two snapshots of the metadata on the stores of each configured location.',
  },
  snapshotsKept: {
    flag: 'snapshots-kept',
    environment: ['HOLDFAST_SNAPSHOTS_KEPT'],
    toml: 'snapshots.kept',
    kind: count(1, limits.snapshotsKeptMax),
    initial: [`${limits.snapshotsKept}`],
    summary: 'Snapshots of the metadata that each location keeps.',
  },
}
