/** Every command, in the order in which the help lists them. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { OptionName } from '../config/options.ts'
import { access } from './access.ts'
import { keys } from './access-keys.ts'
import { accounts } from './accounts.ts'
import { rateFlag } from './asked-rate.ts'
import { backup } from './backup.ts'
import { clock } from './clock.ts'
import type { CommandDeclaration } from './command.ts'
import { keyRing, keyRingFlags } from './key-ring.ts'
import { locations } from './locations.ts'
import { members } from './members.ts'
import { orphans } from './orphans.ts'
import { policies } from './policies.ts'
import { reclaim } from './reclaim.ts'
import { recover } from './recover.ts'
import { repair } from './repair.ts'
import { restore } from './restore.ts'
import { scrub } from './scrub.ts'
import { serve } from './serve.ts'
import { users } from './users.ts'

const serveOptions: readonly OptionName[] = [
  'config',
  'data',
  'listen',
  'adminListen',
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
    run: serve,
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
      return serve(invocation)
    },
  },
  {
    name: 'reclaim',
    summary: 'Remove unreferenced data from the data directory of a stopped server, and exit.',
    options: ['config', 'data', 'quarantineMs', 'abandonedUploadMs', 'repairBytesPerSecond', 'logLevel'],
    extraFlags: [
      { flags: '--grace <DURATION>', summary: 'Age at which unreferenced data is removed.', option: 'reclaimGraceMs' },
    ],
    // The server is stopped, so no request can still need unreferenced data.
    initial: { reclaimGraceMs: ['0'] },
    run: reclaim,
  },
  {
    name: 'orphans',
    summary:
      'List the data in quarantine, which no metadata references: since when, where, and what its shards say it is. Works while a server runs.',
    options: ['config', 'data', 'logLevel'],
    run: orphans,
  },
  {
    name: 'clock',
    summary:
      'Show the time that decides about Object Lock, or confirm a large step of the clock. Works while a server runs.',
    options: ['config', 'data', 'logLevel'],
    extraFlags: [
      { flags: '--confirm', summary: "Vouch for the machine's clock: locks that it says have expired may go." },
    ],
    run: clock,
  },
  accounts,
  users,
  policies,
  keys,
  {
    name: 'key-ring',
    summary: 'Show the key ring by name and id, or replace one of its keys. Works while a server runs.',
    options: ['config', 'data', 'logLevel'],
    extraFlags: keyRingFlags,
    run: keyRing,
  },
  {
    name: 'access',
    summary: 'Explain who may do what, or confirm what guards a recovered bucket. Works while a server runs.',
    options: ['config', 'data', 'region', 'logLevel'],
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
      summary:
        "'status' (the default) lists the recovered buckets that admit only their owner's own key until they are confirmed; 'confirm BUCKET' confirms one, and says what guards it now; 'explain KEY ACTION RESOURCE' says what is decided, and because of which statement: KEY is an access key id, ACCOUNT/USER or anonymous, ACTION such as s3:GetObject, RESOURCE a bucket, bucket/key or ARN.",
    },
    run: access,
  },
  {
    name: 'members',
    summary:
      'List the servers and commands that share the metadata in PostgreSQL: since when, how long their leases last, and which one is the maintainer.',
    options: ['config', 'data', 'logLevel'],
    run: members,
  },
  {
    name: 'locations',
    summary: 'Show the state of locations and stores, plan a change, move data, or replace a store.',
    options: ['config', 'data', 'logLevel'],
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
      summary:
        "'status' (the default) begins with OK, DEGRADED or AT RISK and exits with 0, 3 or 4; 'plan' says what the configuration, as it is now, would change; 'plan BUCKET TO' says what a move would write; 'move BUCKET TO' moves a bucket's data while clients use it; 'replace STORE' replaces a lost store by an empty one; 'claim STORE' takes over a store that another server, or a copy of this one, used last. All of them work while a server runs.",
    },
    run: locations,
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
    run: scrub,
  },
  {
    name: 'repair',
    summary: 'Replace missing and damaged shards now. Works while a server runs.',
    options: ['config', 'data', 'logLevel'],
    extraFlags: [rateFlag],
    run: repair,
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
    run: backup,
  },
  {
    name: 'restore',
    summary: 'Put the metadata of a backup into a data directory that has none.',
    options: ['config', 'data', 'logLevel'],
    words: { placeholder: 'FILE', summary: 'A backup, or a directory with backups, of which the newest is used.' },
    run: restore,
  },
  {
    name: 'recover',
    summary:
      'Rebuild lost metadata from what the stores hold: from the newest snapshot on them, and from newer shards.',
    options: ['config', 'data', 'logLevel', 'reclaimGraceMs'],
    run: recover,
  },
]
