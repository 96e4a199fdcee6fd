/** The flags of `holdfast import`. */
import { importLimits } from '../../imports/import-limits.ts'
import type { ExtraFlag } from '../command.ts'

export const importFlags: readonly ExtraFlag[] = [
  { flags: '--endpoint <URL>', summary: 'The S3 port to import to. Initially as the configuration says it.' },
  { flags: '--from-region <REGION>', summary: 'The region of the other server (initially us-east-1).' },
  { flags: '--unsigned', summary: 'Ask the other server without a key.' },
  { flags: '--to <BUCKET>', summary: 'The name here of the one bucket that is imported.' },
  { flags: '--prefix <PREFIX>', summary: 'Only keys that start with it.' },
  { flags: '--current', summary: 'Only current objects, without older versions and delete markers.' },
  {
    flags: '--overwrite',
    summary: 'In buckets without versions: replace objects that differ even if they are newer here.',
  },
  { flags: '--delete', summary: 'Delete the keys that the other server does not have.' },
  {
    flags: '--ignore-etags',
    summary: 'Compare sizes and times only: for servers whose ETags are no MD5s. Copies are not verified then.',
  },
  {
    flags: '--every <DURATION>',
    summary: 'Follow the other server: again after each run and this time, such as 1m, until the command is stopped.',
  },
  { flags: '--dry-run', summary: 'Only say what would be copied.' },
  {
    flags: '--parallel <COUNT>',
    summary: `Keys that are copied at the same time (initially ${importLimits.parallelInitial}).`,
  },
]
