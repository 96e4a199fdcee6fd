/** The frame around every page: who is logged in, navigation, messages, uploads. The code of a page loads when the page is first shown. */
import { useSignal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { linkTo, route } from './model/address.ts'
import { may } from './model/permissions.ts'
import { logOut, session } from './model/session.ts'
import { theme, themes } from './model/theme.ts'
import { uploads } from './model/uploads.ts'
import { LogIn } from './pages/log-in.tsx'
import { IconButton } from './ui/button.tsx'
import { Icon, type IconName } from './ui/icon.tsx'
import { Failure, Loading } from './ui/loading.tsx'
import { Notices } from './ui/notices.tsx'

interface Page {
  title: string
  icon: IconName
  path: string
  load: () => Promise<{ Page: FunctionComponent }>
  isShown: () => boolean
}

/** Each has a tab there. */
const machineParts = ['ListLocations', 'ListTasks', 'WatchRequests', 'GetMetrics', 'ListMembers', 'GetConfiguration']

const pages: readonly Page[] = [
  { title: 'Buckets', icon: 'bucket', path: 'buckets', load: () => import('./pages/buckets.tsx'), isShown: () => true },
  {
    title: 'Access',
    icon: 'people',
    path: 'access',
    load: () => import('./pages/access.tsx'),
    isShown: () => ['ListUsers', 'ListKeys', 'ListPolicies'].some(may),
  },
  {
    title: 'Machine room',
    icon: 'machine',
    path: 'machine',
    load: () => import('./pages/machine.tsx'),
    isShown: () => machineParts.some(may),
  },
]

/** The list of buckets leads here. */
const bucketPage: Page = {
  title: 'Bucket',
  icon: 'bucket',
  path: 'bucket',
  load: () => import('./pages/bucket.tsx'),
  isShown: () => true,
}

export function App() {
  const current = session.value
  if (current === undefined) return <Loading />
  if (current === null)
    return (
      <>
        <LogIn />
        <Notices />
      </>
    )
  const [first = 'buckets'] = route.value.path
  const page = [...pages, bucketPage].find(({ path, isShown }) => path === first && isShown()) ?? pages[0]
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        Skip to the content
      </button>
      <SideBar current={page === bucketPage ? 'buckets' : page?.path} />
      <main id="content" tabIndex={-1}>
        {page && <Lazy key={page.path} page={page} />}
      </main>
      {uploads.value.length > 0 && <Lazy page={transfers} />}
      <Notices />
    </div>
  )
}

const transfers: Page = {
  title: 'Uploads',
  icon: 'upload',
  path: 'uploads',
  load: () => import('./pages/transfers.tsx'),
  isShown: () => true,
}

function Lazy({ page }: { page: Page }) {
  const loaded = useSignal<FunctionComponent | undefined>(undefined)
  const failed = useSignal(false)
  useEffect(() => {
    page.load().then(
      ({ Page }) => {
        // Not by the setter of a state hook, which would call a function that it is given.
        loaded.value = Page
      },
      () => {
        failed.value = true
      },
    )
  }, [page])
  if (failed.value) return <Failure>This page could not be loaded. The server may have been updated: reload.</Failure>
  const Shown = loaded.value
  return Shown === undefined ? <Loading /> : <Shown />
}

function SideBar({ current }: { current: string | undefined }) {
  const who = session.value
  return (
    <nav class="side-bar" aria-label="Pages">
      <a class="brand" href={linkTo([])}>
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path d="M10 7v18M22 7v18M10 16h12" />
        </svg>
        Holdfast
      </a>
      <ul>
        {pages
          .filter(({ isShown }) => isShown())
          .map(({ title, icon, path }) => (
            <li key={path}>
              <a href={linkTo([path])} aria-current={path === current ? 'page' : undefined}>
                <Icon name={icon} />
                {title}
              </a>
            </li>
          ))}
      </ul>
      <div class="who">
        <span title={who?.accessKeyId}>{who?.user ?? who?.accountName}</span>
        <IconButton icon="sun" label={`Colours: ${theme.value}`} onClick={turnTheme} />
        <IconButton icon="leave" label="Log out" onClick={logOut} />
      </div>
    </nav>
  )
}

function turnTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system'
}
