/** The admin port's operations on stores, locations and the members that share them. */
import { z } from 'zod'
import { defineAdminOperation } from './requests/operation.ts'
import { locationView, memberView } from './state-views.ts'
import { noInput } from './views.ts'

const badHealths = ['AT RISK', 'DEGRADED'] as const

const listLocations = defineAdminOperation({
  name: 'ListLocations',
  summary:
    'Shows each location with its stores: their state and room, how many of its shards they hold, what lacks shards, and how many failures it survives. Shards are counted in the background; `measured` says when.',
  method: 'GET',
  path: '/v1/locations',
  permission: 'admin:StorageInfo',
  status: 200,
  input: noInput,
  output: z.object({ health: z.enum(['OK', 'DEGRADED', 'AT RISK']), locations: z.array(locationView) }),
  handle: async ({ storage }) => {
    const locations = await storage.locations()
    const worst = badHealths.find((health) => locations.some((location) => location.health === health))
    const health: z.input<typeof locationView>['health'] = worst ?? 'OK'
    return { health, locations }
  },
})

const replaceStore = defineAdminOperation({
  name: 'ReplaceStore',
  summary:
    'Replaces a lost store with a new, empty one, and queues what it held for repair. `force` accepts a directory that is not a mount although the others are.',
  method: 'POST',
  path: '/v1/stores/{store}/replace',
  permission: 'admin:ReplaceStore',
  status: 200,
  input: z.strictObject({ force: z.boolean().optional() }),
  output: z.object({ queuedBlobs: z.number() }),
  handle: async ({ storage }, { store }, { force = false }) => ({
    queuedBlobs: await storage.replace(store, { force }),
  }),
})

const listMembers = defineAdminOperation({
  name: 'ListMembers',
  summary: 'Lists the processes that share the metadata. Empty: this server has it to itself.',
  method: 'GET',
  path: '/v1/members',
  permission: 'admin:ListMembers',
  status: 200,
  input: noInput,
  output: z.object({ members: z.array(memberView) }),
  handle: async ({ members }) => ({ members: await members() }),
})

export const storageOperations = [listLocations, replaceStore, listMembers]
