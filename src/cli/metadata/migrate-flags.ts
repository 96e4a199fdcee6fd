/** The flags of `holdfast migrate`. The code that carries it out is loaded when it runs. */
import type { ExtraFlag } from '../command.ts'

export const migrateFlags: readonly ExtraFlag[] = [
  {
    flags: '--to <ENGINE>',
    summary:
      "'postgres': from the data directory into the database of metadata.url or HOLDFAST_METADATA_URL, which must be empty. 'lmdb': from there into the data directory.",
  },
  {
    flags: '--keep-local',
    summary:
      'Move the metadata even though objects lie in the data directory, which other servers cannot reach. Its store then needs a name in the configuration.',
  },
  { flags: '--cancel', summary: 'Give up a move that was begun: the metadata is used again where it came from.' },
]
