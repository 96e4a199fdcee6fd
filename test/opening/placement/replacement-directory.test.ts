import { expect, test } from 'vitest'
import { unfitDirectory } from '../../../src/opening/placement/replacement-directory.ts'

const mount = { isMount: true }
const directory = { isMount: false }

test.each([
  ['nothing', undefined, [mount], 'does not exist'],
  ['nothing, without others', undefined, [], 'does not exist'],
  ['a mount', mount, [mount, mount], undefined],
  ['a directory beside directories', directory, [directory, directory], undefined],
  ['a directory where others are mounts', directory, [mount, mount], 'not mounted'],
  ['a directory where those that are there are mounts', directory, [mount, undefined], 'not mounted'],
  ['a directory where some are', directory, [mount, directory], undefined],
  ['a directory without others', directory, [], undefined],
  ['a mount beside directories', mount, [directory], undefined],
])('a lost store is replaced by %s: %s', (_, directory, others, reason) => {
  const said = unfitDirectory('/mnt/d2', directory, others)
  if (reason === undefined) expect(said).toBeUndefined()
  else expect(said).toContain(reason)
})
