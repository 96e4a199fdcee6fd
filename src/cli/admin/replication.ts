/** `holdfast replication`: says over the admin port of a running server what waits to be copied to other buckets. */
import { z } from 'zod'
import { destinationView } from '../../admin/state-views.ts'
import type { CommandDeclaration } from '../command.ts'
import { type Actions, actionsSummary, columns, runAction } from './admin-actions.ts'
import { adminFlags, adminOptions } from './admin-target.ts'

type Destination = z.output<typeof destinationView>

const output = z.object({ destinations: z.array(destinationView) })

const actions: Actions = {
  list: {
    takes: ['BUCKET'],
    lastIsOptional: true,
    run: async ({ ask }, [bucket]) => {
      const path = ['v1', 'replication']
      const { destinations } = await ask({ method: 'GET', path, query: { bucket } }, output)
      const lines = columns(destinations.map(rowOf))
      return { event: { event: 'replication', destinations }, lines, none: 'there are no replication rules' }
    },
  },
}

const rowOf = (status: Destination): string[] => [
  status.bucket,
  status.destination,
  waitingText(status),
  faultText(status),
]

function waitingText({ waiting, since, queueing }: Destination): string {
  if (queueing) return 'what was there before is being queued'
  if (since === undefined) return 'nothing waits'
  return waiting === 1 ? `1 version waits, since ${since}` : `${waiting} versions wait, the first since ${since}`
}

const faultText = ({ fault }: Destination): string => (fault === undefined ? '' : `takes no copies: ${fault}`)

export const replication: CommandDeclaration = {
  name: 'replication',
  summary: 'Say what waits to be copied to other buckets, since when, and why.',
  options: adminOptions,
  extraFlags: [...adminFlags],
  words: {
    placeholder: 'ACTION',
    choices: Object.keys(actions),
    summary: `${actionsSummary(actions)}. Initially 'list'.`,
  },
  run: (invocation) => runAction('replication', actions, invocation),
}
