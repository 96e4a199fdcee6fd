/** `holdfast quotas`: manages the quotas of buckets over the admin port of a running server. */

import { z } from 'zod'
import { quotaView } from '../../admin/state-views.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { size } from '../../config/kinds.ts'
import type { CommandDeclaration } from '../command.ts'
import { counted } from '../counted.ts'
import { flagValue } from '../flag-values.ts'
import { formatBytes } from '../tasks/progress.ts'
import { type Actions, type Asking, actionsSummary, keptActions, runAction } from './admin-actions.ts'
import { adminFlags, adminOptions } from './admin-target.ts'

type Quota = z.output<typeof quotaView>

const { pathOf, asked, list, show } = keptActions({
  named: 'BUCKET',
  view: quotaView,
  event: { one: 'quota', many: 'quotas' },
  field: { one: 'quota', many: 'quotas', name: 'bucket' },
  path: () => ['v1', 'quotas'],
  rowOf: (quota) => [quota.bucket, quota.owner, bytesText(quota), objectsText(quota), stateText(quota)],
})

const bytesText = ({ bytes, used }: Quota): string =>
  bytes === undefined ? 'any bytes' : `${used === undefined ? '?' : formatBytes(used.bytes)} of ${formatBytes(bytes)}`

const objectsText = ({ objects, used }: Quota): string =>
  objects === undefined ? 'any number' : `${used?.objects ?? '?'} of ${counted(objects, 'object')}`

function stateText({ bytes = Number.POSITIVE_INFINITY, objects = Number.POSITIVE_INFINITY, used }: Quota): string {
  if (used === undefined) return 'still counting: refuses nothing yet'
  return used.bytes >= bytes || used.objects >= objects ? 'full' : ''
}

const actions: Actions = {
  list,
  show,
  set: {
    takes: ['BUCKET'],
    run: (asking, [name = '']) =>
      asked(asking, { method: 'PUT', path: pathOf(asking, name), input: askedQuota(asking) }),
  },
  remove: {
    takes: ['BUCKET'],
    run: async (asking, [bucket = '']) => {
      await asking.ask({ method: 'DELETE', path: pathOf(asking, bucket) }, z.undefined())
      return { event: { event: 'removed', bucket }, lines: [`${bucket} has no quota any more`] }
    },
  },
}

/** Throws `ConfigurationError`. */
function askedQuota({ flag }: Asking): { bytes?: number; objects?: number } {
  const [bytes, objects] = [flag('bytes'), flag('objects')]
  if (bytes === undefined && objects === undefined) {
    throw new ConfigurationError('expects --bytes, --objects or both, such as --bytes 10GiB')
  }
  if (objects !== undefined && !/^\d{1,15}$/.test(objects)) {
    throw new ConfigurationError(`--objects: expects a whole number, not '${objects}'`)
  }
  return {
    ...(bytes === undefined ? {} : { bytes: flagValue('--bytes', size(0), bytes) }),
    ...(objects === undefined ? {} : { objects: Number(objects) }),
  }
}

export const quotas: CommandDeclaration = {
  name: 'quotas',
  summary: 'List, set and remove quotas: the most that a bucket may hold.',
  options: adminOptions,
  extraFlags: [
    ...adminFlags,
    {
      flags: '--bytes <SIZE>',
      summary: 'set: the most bytes, such as 10GiB, noncurrent versions and uploads included.',
    },
    { flags: '--objects <COUNT>', summary: 'set: the most versions of objects, open uploads included.' },
  ],
  words: {
    placeholder: 'ACTION',
    choices: Object.keys(actions),
    summary: `${actionsSummary(actions)}. Initially 'list'.`,
  },
  run: (invocation) => runAction('quotas', actions, invocation),
}
