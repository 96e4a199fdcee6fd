/** The machine room: stores and locations, tasks, load, requests, members, configuration. */
import type { FunctionComponent } from 'preact'
import { linkTo, route } from '../model/address.ts'
import { may } from '../model/permissions.ts'
import { Configuration } from './machine/configuration.tsx'
import { Load } from './machine/load.tsx'
import { Locations } from './machine/locations.tsx'
import { Members } from './machine/members.tsx'
import { Requests } from './machine/requests.tsx'
import { Tasks } from './machine/tasks.tsx'

interface Tab {
  id: string
  title: string
  /** Who may use one of these sees it. */
  operations: readonly string[]
  Shown: FunctionComponent
}

const all: readonly Tab[] = [
  { id: 'stores', title: 'Stores and locations', operations: ['ListLocations'], Shown: Locations },
  { id: 'tasks', title: 'Tasks', operations: ['ListTasks'], Shown: Tasks },
  { id: 'load', title: 'Load', operations: ['WatchRequests', 'GetMetrics'], Shown: Load },
  { id: 'requests', title: 'Requests', operations: ['WatchRequests'], Shown: Requests },
  { id: 'members', title: 'Members', operations: ['ListMembers'], Shown: Members },
  { id: 'configuration', title: 'Configuration', operations: ['GetConfiguration'], Shown: Configuration },
]

export function Page() {
  const tabs = all.filter(({ operations }) => operations.some(may))
  const [, asked] = route.value.path
  const current = tabs.find(({ id }) => id === asked) ?? tabs[0]
  return (
    <div class="page">
      <div class="page-head">
        <h1>Machine room</h1>
      </div>
      <nav class="tabs" aria-label="Parts of the machine room">
        {tabs.map(({ id, title }) => (
          <a key={id} href={linkTo(['machine', id])} aria-current={id === current?.id ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      {current && <current.Shown />}
    </div>
  )
}
