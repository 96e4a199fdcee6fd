/** The flags of `holdfast import`. */
import { importLimits } from '../../imports/import-limits.ts'
import type { ExtraFlag } from '../command.ts'

export const importFlags: readonly ExtraFlag[] = [
  { flags: '--endpoint <URL>', summary: 'The S3 port to import to. Initially that of the configuration.' },
  { flags: '--from-region <REGION>', summary: 'The region of the other server (initially us-east-1).' },
  { flags: '--unsigned', summary: 'Ask the other server without a key.' },
  { flags: '--to <BUCKET>', summary: 'Import the one bucket under this name.' },
  { flags: '--prefix <PREFIX>', summary: 'Import only keys with this prefix.' },
  { flags: '--current', summary: 'Import only current objects, without older versions and delete markers.' },
  {
    flags: '--overwrite',
    summary: 'In buckets without versions: replace objects that differ even if they are newer here.',
  },
  { flags: '--delete', summary: 'Delete the keys that the other server does not have.' },
  {
    flags: '--ignore-etags',
    summary: 'Compare only sizes and times: for servers whose ETags are not MD5s. Copies are not verified then.',
  },
  {
    flags: '--every <DURATION>',
    summary:
      'Follow the other server: run again and again, with this pause between runs, such as 1m, until the command is stopped.',
  },
  { flags: '--dry-run', summary: 'Say what would be copied, and copy nothing.' },
  {
    flags: '--parallel <COUNT>',
    summary: `How many keys to copy at the same time (initially ${importLimits.parallelInitial}).`,
  },
]
