/** Every command, in the order of the help. */
import type { OptionName } from '../config/options.ts'
import { rateFlag } from './asked-rate.ts'
import { backup } from './backup.ts'
import { clock } from './clock.ts'
import type { CommandDeclaration } from './command.ts'
import { keys } from './keys.ts'
import { locations } from './locations.ts'
import { reclaim } from './reclaim.ts'
import { recover } from './recover.ts'
import { repair } from './repair.ts'
import { restore } from './restore.ts'
import { scrub } from './scrub.ts'
import { serve } from './serve.ts'

const serveOptions: readonly OptionName[] = [
  'config',
  'data',
  'listen',
  'domains',
  'region',
  'tlsCert',
  'tlsKey',
  'allowCustomerKeysOverHttp',
  'workers',
  'logLevel',
  'reclaimGraceMs',
  'reclaimIntervalMs',
  'abandonedUploadMs',
  'scrubIntervalMs',
  'scrubBytesPerSecond',
  'repairBytesPerSecond',
  'kmsKeys',
  'snapshotIntervalMs',
  'snapshotsKept',
]

export const defaultCommand = 'serve'

export const commands: readonly CommandDeclaration[] = [
  {
    name: defaultCommand,
    summary: 'Serve S3 from a data directory (the default command).',
    options: serveOptions,
    run: serve,
  },
  {
    name: 'server',
    summary: "The same, spelled as MinIO's command line: listens on every interface.",
    options: serveOptions.filter((name) => name !== 'listen' && name !== 'data'),
    extraFlags: [
      { flags: '--address <HOST:PORT>', summary: 'Address of the S3 port.', option: 'listen' },
      { flags: '--console-address <HOST:PORT>', summary: 'Accepted; this version has no console.' },
    ],
    argument: { placeholder: 'DIR', summary: 'Data directory.', option: 'data' },
    initial: { listen: [':9000'] },
    run: async (invocation) => {
      if (invocation.extra.consoleAddress !== undefined) {
        invocation.notice('--console-address: this version has no console yet; only the S3 port is served')
      }
      return serve(invocation)
    },
  },
  {
    name: 'reclaim',
    summary: 'Remove what nothing references from the data directory of a stopped server, and exit.',
    options: ['config', 'data', 'abandonedUploadMs', 'repairBytesPerSecond', 'logLevel'],
    extraFlags: [
      { flags: '--grace <DURATION>', summary: 'Age at which unreferenced data is removed.', option: 'reclaimGraceMs' },
    ],
    // No request runs beside it that could still need what is unreferenced.
    initial: { reclaimGraceMs: ['0'] },
    run: reclaim,
  },
  {
    name: 'clock',
    summary: 'Show the time that Object Lock is judged by, or confirm a large step of the clock, of a stopped server.',
    options: ['config', 'data', 'logLevel'],
    extraFlags: [
      { flags: '--confirm', summary: "Vouch for the machine's clock: locks that it says have expired may go." },
    ],
    run: clock,
  },
  {
    name: 'keys',
    summary: 'Show the key ring of a stopped server by name and id, or replace a key of it.',
    options: ['config', 'data', 'logLevel'],
    extraFlags: [
      { flags: '--rotate <NAME>', summary: 'Make a new key of this name, and wrap the keys of all objects with it.' },
      { flags: '--rewrap', summary: 'Wrap the keys of all objects with the newest key of each name.' },
      {
        flags: '--retire',
        summary: 'The same, then remove the older keys: whoever has one of them can open nothing more.',
      },
    ],
    run: keys,
  },
  {
    name: 'locations',
    summary: 'Show how the locations and their stores are, foresee a change of them, or bring data to another one.',
    options: ['config', 'data', 'logLevel'],
    extraFlags: [rateFlag, { flags: '--cancel', summary: 'Stop the move of a bucket that is under way.' }],
    words: {
      placeholder: 'ACTION',
      summary:
        "'status' (initially); 'plan', what the configuration as it is now would change; 'plan BUCKET TO', what a move would write; 'move BUCKET TO', which moves a bucket's data while it is used; 'replace STORE', a new store, in an empty directory, in the place of a lost one: all of them also beside a running server.",
    },
    run: locations,
  },
  {
    name: 'scrub',
    summary:
      'Read and verify every shard of every object, also beside a running server, and repair what is damaged. Goes on where the last one stopped.',
    options: ['config', 'data', 'logLevel'],
    extraFlags: [
      rateFlag,
      { flags: '--restart', summary: 'Begin anew.' },
      { flags: '--cancel', summary: 'Stop the one that is under way.' },
    ],
    run: scrub,
  },
  {
    name: 'repair',
    summary: 'Make the shards that are missing or damaged anew, now, also beside a running server.',
    options: ['config', 'data', 'logLevel'],
    extraFlags: [rateFlag],
    run: repair,
  },
  {
    name: 'backup',
    summary: 'Write a consistent copy of the metadata to a file, also beside a running server.',
    options: ['config', 'data', 'logLevel', 'snapshotsKept'],
    extraFlags: [
      {
        flags: '--on-stores',
        summary: 'To the stores of each location instead, as the server does from time to time.',
      },
      {
        flags: '--with-keys',
        summary: 'Include the key ring: a secret. Without it, encrypted objects need a copy of it.',
      },
    ],
    words: { placeholder: 'FILE', summary: 'A new file, or a directory for one that is named by its time.' },
    run: backup,
  },
  {
    name: 'restore',
    summary: 'Put the metadata of a backup into a data directory that has none.',
    options: ['config', 'data', 'logLevel'],
    words: { placeholder: 'FILE', summary: 'A backup, or a directory: the newest in it.' },
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
