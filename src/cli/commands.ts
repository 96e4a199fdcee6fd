/** Every command, in the order in which the help lists them. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { OptionName } from '../config/options.ts'
import { keys } from './admin/access-keys.ts'
import { accounts } from './admin/accounts.ts'
import { adminFlags } from './admin/admin-target.ts'
import { policies } from './admin/policies.ts'
import { quotas } from './admin/quotas.ts'
import { replication } from './admin/replication.ts'
import { users } from './admin/users.ts'
import type { CommandDeclaration } from './command.ts'
import { completion } from './completion.ts'
import { health } from './health.ts'
import { importFlags } from './imports/import-flags.ts'
import { migrateFlags } from './metadata/migrate-flags.ts'
import { overData, serveData } from './over-data.ts'
import { rateFlag } from './tasks/asked-rate.ts'

const serveOptions: readonly OptionName[] = [
  'config',
  'data',
  'listen',
  'adminListen',
  'adminPublicEndpoints',
  'auditLog',
  'auditWebhook',
  'slowRequestMs',
  'domains',
  'region',
  'corsAllowOrigin',
  'trustedProxies',
  'publicEndpoints',
  'websiteDomains',
  'blockPublic',
  'tlsCert',
  'tlsKey',
  'rootFromAwsEnv',
  'allowCustomerKeysOverHttp',
  'defaultChecksum',
  'sigv2',
  'workers',
  'connectionsMax',
  'clientBytesMax',
  'clientBytesPerSecondMin',
  'logLevel',
  'logFile',
  'reclaimGraceMs',
  'reclaimIntervalMs',
  'quarantineMs',
  'abandonedUploadMs',
  'accessLogIntervalMs',
  'scrubIntervalMs',
  'scrubBytesPerSecond',
  'repairBytesPerSecond',
  'kmsKeys',
  'snapshotIntervalMs',
  'snapshotsKept',
]

export const defaultCommand = 'serve'

/** If both files are missing, the port speaks plain HTTP, as in MinIO. The configuration refuses one without the other. */
function filesOfCertsDirectory(directory: string): Partial<Record<OptionName, string[]>> {
  const cert = join(directory, 'public.crt')
  const key = join(directory, 'private.key')
  return { ...(existsSync(cert) ? { tlsCert: [cert] } : {}), ...(existsSync(key) ? { tlsKey: [key] } : {}) }
}

export const commands: readonly CommandDeclaration[] = [
  {
    name: defaultCommand,
    summary: 'Serve S3 from a data directory (the default command).',
    options: serveOptions,
    isServer: true,
    run: serveData,
  },
  {
    name: 'server',
    summary: "The same, spelled as MinIO's command line: listens on every interface.",
    options: serveOptions.filter((name) => name !== 'listen' && name !== 'data'),
    extraFlags: [
      { flags: '--address <HOST:PORT>', summary: 'Address of the S3 port.', option: 'listen' },
      { flags: '--console-address <HOST:PORT>', summary: 'Address of the admin port.', option: 'adminListen' },
      { flags: '-S, --certs-dir <DIR>', summary: 'Speak TLS with `public.crt` and `private.key` of this directory.' },
      { flags: '--quiet', summary: 'Print only the line that scripts wait for.' },
      { flags: '--anonymous', summary: 'Print no access key and no path.' },
    ],
    argument: { placeholder: 'DIR', summary: 'Data directory.', option: 'data' },
    initial: { listen: [':9000'] },
    isServer: true,
    optionsOf: ({ certsDir }) => (typeof certsDir === 'string' ? filesOfCertsDirectory(certsDir) : {}),
    run: async (invocation) => {
      if (invocation.extra.certsDir !== undefined && invocation.configuration.tls === undefined) {
        invocation.notice('--certs-dir: it holds no public.crt and private.key; the port speaks plain HTTP')
      }
      return serveData(invocation)
    },
  },
  {
    name: 'health',
    summary: 'Ask the running server whether it takes requests: exits with 0 if it does, else with 1.',
    options: ['config', 'data', 'listen', 'tlsCert', 'tlsKey', 'logLevel'],
    run: health,
  },
  {
    name: 'doctor',
    summary:
      'Ask a running server through its proxies, and say what they break: signatures, paths, HEAD, large bodies, buckets in the host. Writes nothing.',
    options: ['config', 'data', 'region', 'listen', 'tlsCert', 'tlsKey', 'publicEndpoints', 'logLevel'],
    words: {
      placeholder: 'URL',
      summary: 'As clients name the server. Initially the first public endpoint, or the address that it listens on.',
    },
    run: async (invocation) => (await import('./doctor/doctor.ts')).doctor(invocation),
  },
  {
    name: 'reclaim',
    summary:
      'Remove unreferenced data now. A running server does it, with its own settings and at least its own grace.',
    options: ['config', 'data', 'region', 'quarantineMs', 'abandonedUploadMs', 'repairBytesPerSecond', 'logLevel'],
    extraFlags: [
      { flags: '--grace <DURATION>', summary: 'Age at which unreferenced data is removed.', option: 'reclaimGraceMs' },
      ...adminFlags,
    ],
    // The server is stopped, so no request can still need unreferenced data.
    initial: { reclaimGraceMs: ['0'] },
    run: overData('reclaim'),
  },
  {
    name: 'orphans',
    summary:
      'List the data in quarantine, which no metadata references: since when, where, and what its shards say it is. Works while a server runs.',
    options: ['config', 'data', 'logLevel'],
    run: overData('orphans'),
  },
  {
    name: 'clock',
    summary:
      'Show the time that decides about Object Lock, or confirm a large step of the clock. Works while a server runs.',
    options: ['config', 'data', 'auditLog', 'auditWebhook', 'logLevel'],
    extraFlags: [
      {
        flags: '--confirm',
        summary:
          'Vouch for the clock of the machine, or of the metadata database: locks that it says have expired may go.',
      },
    ],
    run: overData('clock'),
  },
  accounts,
  users,
  policies,
  keys,
  quotas,
  replication,
  {
    name: 'key-ring',
    summary: 'Show the key ring by name and id, or replace one of its keys. Works while a server runs.',
    options: ['config', 'data', 'auditLog', 'auditWebhook', 'logLevel'],
    extraFlags: [
      { flags: '--rotate <NAME>', summary: 'Make a new key of this name, and wrap the keys of all objects with it.' },
      { flags: '--rewrap', summary: 'Wrap the keys of all objects with the newest key of each name.' },
      {
        flags: '--retire',
        summary: 'The same, then remove the older keys: whoever has one of them can no longer open anything.',
      },
    ],
    run: overData('keyRing'),
  },
  {
    name: 'access',
    summary: 'Explain who may do what, or confirm what guards a recovered bucket. Works while a server runs.',
    options: ['config', 'data', 'region', 'auditLog', 'auditWebhook', 'logLevel'],
    extraFlags: [
      { flags: '--from <IP>', summary: 'explain: the address that the request comes from.' },
      { flags: '--user-agent <TEXT>', summary: 'explain: the User-Agent of the request.' },
      { flags: '--secure', summary: 'explain: the request comes over TLS.' },
      {
        flags: '--context <KEY=VALUE>',
        summary: 'explain: the value of any other condition key, such as s3:prefix=2026/.',
        repeatable: true,
      },
    ],
    words: {
      placeholder: 'ACTION',
      choices: ['status', 'confirm', 'explain'],
      summary:
        "'status' (the default) lists the recovered buckets that admit only their owner's own key until they are confirmed; 'confirm BUCKET' confirms one, and says what guards it now; 'explain KEY ACTION RESOURCE' says what is decided, and because of which statement: KEY is an access key id, ACCOUNT/USER or anonymous, ACTION such as s3:GetObject, RESOURCE a bucket, bucket/key or ARN.",
    },
    run: overData('access'),
  },
  {
    name: 'members',
    summary:
      'List the servers and commands that share the metadata in PostgreSQL: their age, how long their leases last, by how much their clocks differ from the database, and which one is the maintainer. Without PostgreSQL, show the server that uses the data directory.',
    options: ['config', 'data', 'logLevel'],
    run: overData('members'),
  },
  {
    name: 'locations',
    summary: 'Show the state of locations and stores, plan a change, move data, or replace a store.',
    options: ['config', 'data', 'auditLog', 'auditWebhook', 'logLevel'],
    extraFlags: [
      rateFlag,
      { flags: '--cancel', summary: 'Stop the move of a bucket that is under way.' },
      {
        flags: '--force',
        summary:
          'Replace a store even by a directory that is missing, or that is not a mount although the other stores are.',
      },
    ],
    words: {
      placeholder: 'ACTION',
      choices: ['status', 'plan', 'move', 'replace', 'claim'],
      summary:
        "'status' (the default) begins with OK, DEGRADED or AT RISK and exits with 0, 3 or 4; 'plan' says what the configuration, as it is now, would change; 'plan BUCKET TO' says what a move would write; 'move BUCKET TO' moves a bucket's data while clients use it; 'replace STORE' replaces a lost store by an empty one; 'claim STORE' takes over a store that another server, or a copy of this one, used last. All of them work while a server runs.",
    },
    run: overData('locations'),
  },
  {
    name: 'scrub',
    summary:
      'Read and verify every shard of every object, and repair what is damaged. Continues where the last scrub stopped. Works while a server runs.',
    options: ['config', 'data', 'logLevel'],
    extraFlags: [
      rateFlag,
      { flags: '--restart', summary: 'Start again from the beginning.' },
      { flags: '--cancel', summary: 'Stop the scrub that is under way.' },
    ],
    run: overData('scrub'),
  },
  {
    name: 'repair',
    summary: 'Replace missing and damaged shards now. Works while a server runs.',
    options: ['config', 'data', 'logLevel'],
    extraFlags: [rateFlag],
    run: overData('repair'),
  },
  {
    name: 'backup',
    summary: 'Write a consistent copy of the metadata to a file. Works while a server runs.',
    options: ['config', 'data', 'logLevel', 'snapshotsKept'],
    extraFlags: [
      {
        flags: '--on-stores',
        summary: 'Write it to the stores of each location instead, as the server does from time to time.',
      },
      {
        flags: '--with-keys',
        summary: "Include the key ring, which is a secret. Without the ring, encrypted objects can't be read.",
      },
    ],
    words: { placeholder: 'FILE', summary: 'A new file, or a directory for one that is named by its time.' },
    run: overData('backup'),
  },
  {
    name: 'restore',
    summary:
      'Put the metadata of a backup into a data directory that has none, or into an empty database. Stop the server first: it would not notice the restored metadata.',
    options: ['config', 'data', 'auditLog', 'auditWebhook', 'logLevel'],
    words: { placeholder: 'FILE', summary: 'A backup, or a directory with backups, of which the newest is used.' },
    run: overData('restore'),
  },
  {
    name: 'migrate',
    summary:
      'Move the metadata of a stopped server into the PostgreSQL database that the configuration names, or back into the data directory. A server that runs could still change what is moved. After a crash, the same command goes on.',
    options: ['config', 'data', 'auditLog', 'auditWebhook', 'logLevel'],
    extraFlags: migrateFlags,
    run: overData('migrate'),
  },
  {
    name: 'recover',
    summary:
      'Rebuild lost metadata from what the stores hold: from the newest snapshot on them, and from newer shards. Stop the server first: it would not notice the new metadata.',
    options: ['config', 'data', 'auditLog', 'auditWebhook', 'logLevel', 'reclaimGraceMs'],
    run: overData('recover'),
  },
  {
    name: 'import',
    summary:
      'Copy buckets of another S3 server into a running one, with versions, metadata, tags, locks and settings. Repeated, it copies what has changed since.',
    options: ['config', 'data', 'region', 'listen', 'tlsCert', 'tlsKey', 'logLevel'],
    extraFlags: importFlags,
    words: { placeholder: 'URL BUCKET', summary: 'The other server, and its buckets. Without a bucket: all of them.' },
    run: overData('runImport'),
  },
  completion,
]
