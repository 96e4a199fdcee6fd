/** The one table of options: flags, environment variables, TOML keys, help and docs/configuration.md derive from it. */
import { accessLogLimits } from '../access-log-limits.ts'
import { limits } from '../limits.ts'
import { type AdminSettings, type AdminValues, adminOptions } from './admin-options.ts'
import { type DataSettings, dataOptions, snapshotOptions } from './data-options.ts'
import { type FrontSettings, frontOptions } from './front-options.ts'
import {
  address,
  choice,
  count,
  countOrAuto,
  dataPath,
  domains,
  duration,
  durationOrNever,
  formatBytesExactly,
  formatDuration,
  type Kind,
  keyNames,
  type ListenAddress,
  leastRate,
  onOrOff,
  origins,
  path,
  rate,
  region,
  size,
} from './kinds.ts'
import { type MetadataSettings, type MetadataValues, metadataOptions } from './metadata-options.ts'

export interface Option<T> {
  /** The flag without dashes. Absent: no flag. */
  flag?: string
  /** Variable names. The first that is set and not empty counts. */
  environment: readonly string[]
  /** Dotted path in the TOML file. Absent: not in the file. */
  toml?: string
  kind: Kind<T>
  /** The initial value as a user would write it. Absent: no value. */
  initial?: readonly string[]
  /** One line for help and docs. */
  summary: string
}

/** Absolute paths of PEM files. */
export interface TlsFiles {
  cert: string
  key: string
}

/** The resolved options. */
export interface Settings extends AdminSettings, FrontSettings, DataSettings, MetadataSettings {
  data: string
  listen: ListenAddress
  domains: string[]
  region: string
  corsAllowOrigin: string[]
  /** Absent: plain HTTP. */
  tls: TlsFiles | undefined
  allowCustomerKeysOverHttp: boolean
  defaultChecksum: 'none' | 'CRC64NVME'
  sigv2: 'off' | 'presigned' | 'all'
  /** `auto`: as many as suit the machine. */
  workers: number | 'auto'
  connectionsMax: number
  clientBytesMax: number
  /** 0: none. */
  clientBytesPerSecondMin: number
  logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Absent: stderr. */
  logFile: string | undefined
  reclaimGraceMs: number
  reclaimIntervalMs: number
  quarantineMs: number
  abandonedUploadMs: number
  accessLogIntervalMs: number
  /** Absent: never. */
  scrubIntervalMs: number | undefined
  /** Absent: no limit. */
  scrubBytesPerSecond: number | undefined
  /** Absent: no limit. */
  repairBytesPerSecond: number | undefined
  kmsKeys: string[]
}

/** The value of every option. */
export interface Values
  extends Omit<Settings, 'tls' | 'logFile' | keyof AdminSettings | 'metadata'>,
    AdminValues,
    MetadataValues {
  config: string
  tlsCert: string
  tlsKey: string
  logFile: string
  rootFromAwsEnv: boolean
}

export type OptionName = keyof Values

export const options: { readonly [N in OptionName]: Option<Values[N]> } = {
  config: {
    flag: 'config',
    environment: ['HOLDFAST_CONFIG'],
    kind: path,
    summary: 'TOML file to read. Relative paths in it are relative to its directory.',
  },
  data: {
    flag: 'data',
    environment: ['HOLDFAST_DATA', 'MINIO_VOLUMES'],
    toml: 'data',
    kind: dataPath,
    initial: ['./data'],
    summary: 'Data directory. Created, with mode 0700, if missing.',
  },
  ...metadataOptions,
  ...dataOptions,
  listen: {
    flag: 'listen',
    environment: ['HOLDFAST_LISTEN', 'MINIO_ADDRESS'],
    toml: 'listen',
    kind: address,
    initial: ['127.0.0.1:9000'],
    summary: 'Address of the S3 port. `:9000` listens on every interface; port 0 lets the system pick one.',
  },
  ...adminOptions,
  domains: {
    flag: 'domain',
    environment: ['HOLDFAST_DOMAINS', 'MINIO_DOMAIN'],
    toml: 'domains',
    kind: domains,
    initial: [],
    summary:
      'Domain under which `<bucket>.<domain>` addresses a bucket. `localhost` is always one; path style always works.',
  },
  region: {
    flag: 'region',
    environment: ['HOLDFAST_REGION', 'AWS_REGION', 'AWS_DEFAULT_REGION', 'MINIO_REGION'],
    toml: 'region',
    kind: region,
    initial: ['us-east-1'],
    summary: 'Region that this server reports. Signatures made for any region are accepted.',
  },
  corsAllowOrigin: {
    flag: 'cors-allow-origin',
    environment: ['HOLDFAST_CORS_ALLOW_ORIGIN', 'MINIO_API_CORS_ALLOW_ORIGIN'],
    toml: 'corsAllowOrigin',
    kind: origins,
    initial: [],
    summary:
      'Origin whose pages may use every bucket that has no CORS configuration of its own: `https://app.example.com`, with at most one `*` in it, or `*` alone for all.',
  },
  ...frontOptions,
  rootFromAwsEnv: {
    flag: 'root-from-aws-env',
    environment: ['HOLDFAST_ROOT_FROM_AWS_ENV'],
    toml: 'rootFromAwsEnv',
    kind: onOrOff,
    initial: ['false'],
    summary:
      "Take `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` for the root account's key, when no other variable gives one.",
  },
  tlsCert: {
    flag: 'tls-cert',
    environment: ['HOLDFAST_TLS_CERT'],
    toml: 'tls.cert',
    kind: path,
    summary:
      'Certificate of the S3 port in PEM form, with intermediate certificates. With it, the port speaks TLS only. Read again when it changes.',
  },
  tlsKey: {
    flag: 'tls-key',
    environment: ['HOLDFAST_TLS_KEY'],
    toml: 'tls.key',
    kind: path,
    summary: "The certificate's private key, in PEM form, without a passphrase.",
  },
  allowCustomerKeysOverHttp: {
    flag: 'allow-customer-keys-over-http',
    environment: ['HOLDFAST_ALLOW_CUSTOMER_KEYS_OVER_HTTP'],
    toml: 'tls.allowCustomerKeysOverHttp',
    kind: onOrOff,
    initial: ['false'],
    summary:
      'Accept customer-provided encryption keys (SSE-C) over plain HTTP from other machines too: for a server behind a proxy that ends TLS.',
  },
  defaultChecksum: {
    flag: 'default-checksum',
    environment: ['HOLDFAST_DEFAULT_CHECKSUM'],
    toml: 'defaultChecksum',
    kind: choice('none', 'CRC64NVME'),
    initial: ['none'],
    summary: 'Checksum for objects whose clients send none. S3 computes CRC64NVME, which makes a PUT slower.',
  },
  sigv2: {
    flag: 'sigv2',
    environment: ['HOLDFAST_SIGV2'],
    toml: 'sigv2',
    kind: choice('off', 'presigned', 'all'),
    initial: ['presigned'],
    summary:
      'Where Signature Version 2 is accepted: nowhere, in presigned URLs and forms, or also in headers. boto3 and aws-cli 1 presign with it by default. It signs fewer parameters; the server refuses the others.',
  },
  workers: {
    flag: 'workers',
    environment: ['HOLDFAST_WORKERS'],
    toml: 'workers',
    kind: countOrAuto(1, limits.workersMax),
    initial: ['auto'],
    summary: `Processes that serve requests. 1 serves from the main process. \`auto\`: one for each whole core that the process may use, at most ${limits.workersAutoMax}; one where it may use less than ${formatBytesExactly(limits.severalWorkersMemoryBytes)} of memory. Limits of control groups (containers, systemd) count.`,
  },
  connectionsMax: {
    flag: 'connections-max',
    environment: ['HOLDFAST_CONNECTIONS_MAX'],
    toml: 'clients.connections',
    kind: count(16, 1_000_000),
    initial: [`${limits.connectionsMax}`],
    summary:
      'Maximum number of connections of all clients together, and never more than half of the file descriptors that a process may have. One client can have as many as it leaves free for others.',
  },
  clientBytesMax: {
    flag: 'client-memory',
    environment: ['HOLDFAST_CLIENT_MEMORY'],
    toml: 'clients.memory',
    kind: size(16 * 1024 * 1024),
    initial: [formatBytesExactly(limits.clientBytesMax)],
    summary:
      'Maximum memory for answers that clients have not taken yet, and for bodies that they have not sent in full. A client that holds as much as it leaves free for others gets 503 SlowDown.',
  },
  clientBytesPerSecondMin: {
    flag: 'client-rate-min',
    environment: ['HOLDFAST_CLIENT_RATE_MIN'],
    toml: 'clients.rateMin',
    kind: leastRate,
    initial: [`${limits.clientBytesPerSecondMin}`],
    summary: `Minimum rate, in bytes a second, at which a client must send or take data, over ${formatDuration(limits.idleBodyTimeoutMs)} in which the server waits for it. A slower client is cut off.`,
  },
  logLevel: {
    flag: 'log-level',
    environment: ['HOLDFAST_LOG_LEVEL'],
    toml: 'logLevel',
    kind: choice('debug', 'info', 'warn', 'error', 'silent'),
    initial: ['warn'],
    summary: 'Log level: the least severe lines that are written. `info` logs each request.',
  },
  logFile: {
    flag: 'log-file',
    environment: ['HOLDFAST_LOG_FILE'],
    toml: 'logFile',
    kind: path,
    summary: 'File that log lines are appended to, instead of stderr. Opened again on SIGHUP.',
  },
  reclaimGraceMs: {
    flag: 'reclaim-grace',
    environment: ['HOLDFAST_RECLAIM_GRACE'],
    toml: 'reclaim.grace',
    kind: duration(0),
    initial: [formatDuration(limits.reclaimGraceMs)],
    summary: 'Age at which data that nothing references is removed. Keep it longer than the longest request.',
  },
  reclaimIntervalMs: {
    flag: 'reclaim-interval',
    environment: ['HOLDFAST_RECLAIM_INTERVAL'],
    toml: 'reclaim.interval',
    kind: duration(100),
    initial: [formatDuration(limits.reclaimIntervalMs)],
    summary: 'Time between two runs of the background jobs.',
  },
  quarantineMs: {
    flag: 'quarantine',
    environment: ['HOLDFAST_QUARANTINE'],
    toml: 'reclaim.quarantine',
    kind: duration(0),
    initial: [formatDuration(limits.quarantineMs)],
    summary:
      'Minimum time for which orphans (data that no metadata references) are kept. After that, and after a clean check of all metadata, they are removed.',
  },
  abandonedUploadMs: {
    flag: 'abandoned-upload-age',
    environment: ['HOLDFAST_ABANDONED_UPLOAD_AGE'],
    toml: 'uploads.abandonedAge',
    kind: duration(1000),
    initial: [formatDuration(limits.abandonedUploadMs)],
    summary: 'Age at which a multipart upload that was neither completed nor aborted is aborted.',
  },
  accessLogIntervalMs: {
    flag: 'access-log-interval',
    environment: ['HOLDFAST_ACCESS_LOG_INTERVAL'],
    toml: 'accessLogs.interval',
    kind: duration(100),
    initial: [formatDuration(accessLogLimits.intervalMs)],
    summary:
      'Time between two objects of the access log of a bucket, from each worker. Lines are in memory until then.',
  },
  scrubIntervalMs: {
    flag: 'scrub-interval',
    environment: ['HOLDFAST_SCRUB_INTERVAL'],
    toml: 'scrub.interval',
    kind: durationOrNever(60_000),
    initial: [formatDuration(limits.scrubIntervalMs)],
    summary: 'Time between two scrubs, which read and verify every shard in the background.',
  },
  scrubBytesPerSecond: {
    flag: 'scrub-rate',
    environment: ['HOLDFAST_SCRUB_RATE'],
    toml: 'scrub.rate',
    kind: rate,
    initial: [formatBytesExactly(limits.scrubBytesPerSecond)],
    summary: 'Maximum rate, in bytes a second, at which a scrub reads from all stores together.',
  },
  repairBytesPerSecond: {
    flag: 'repair-rate',
    environment: ['HOLDFAST_REPAIR_RATE'],
    toml: 'repair.rate',
    kind: rate,
    initial: ['unlimited'],
    summary: 'Maximum rate, in bytes a second, at which repair reads from all stores together.',
  },
  kmsKeys: {
    flag: 'kms-key',
    environment: ['HOLDFAST_KMS_KEYS'],
    toml: 'encryption.kmsKeys',
    kind: keyNames,
    initial: [],
    summary: 'Key that requests for `aws:kms` encryption may name. It is created if missing; `aws/s3` always exists.',
  },
  ...snapshotOptions,
}

export const optionNames = Object.keys(options).filter((name): name is OptionName => name in options)

/** Environment variables for the root account's key. The first complete pair counts; half a pair is an error. */
export const credentialPairs = [
  ['HOLDFAST_ACCESS_KEY_ID', 'HOLDFAST_SECRET_ACCESS_KEY'],
  ['MINIO_ROOT_USER', 'MINIO_ROOT_PASSWORD'],
] as const

/** Read only on request, because a shell often holds a key of a production account. */
export const awsCredentialPair = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const
