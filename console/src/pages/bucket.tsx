/** One bucket: its objects, and its settings. */
import { linkTo, route } from '../model/address.ts'
import { Objects } from './bucket/objects.tsx'
import { Settings } from './bucket/settings.tsx'

export function Page() {
  const [, name = '', tab = 'objects'] = route.value.path
  const tabs = [
    ['objects', 'Objects'],
    ['settings', 'Settings'],
  ] as const
  return (
    <div class={tab === 'objects' ? 'page full' : 'page'}>
      <div class="page-head">
        <h1>{name}</h1>
      </div>
      <nav class="tabs" aria-label={`Parts of ${name}`}>
        {tabs.map(([id, title]) => (
          <a key={id} href={linkTo(['bucket', name, id])} aria-current={id === tab ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      {tab === 'settings' ? <Settings key={name} bucket={name} /> : <Objects key={name} bucket={name} />}
    </div>
  )
}
