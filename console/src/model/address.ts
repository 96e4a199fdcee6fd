/** Where the user is in the console, as the part of the page's URL after `#`, so that links, the back button and bookmarks work. */
import { computed, signal } from '@preact/signals'

const hash = signal(location.hash)
addEventListener('hashchange', () => {
  hash.value = location.hash
})

export interface Route {
  /** The parts of the path, decoded. */
  path: readonly string[]
  query: URLSearchParams
}

export const route = computed<Route>(() => readRoute(hash.value))

function readRoute(text: string): Route {
  const [path = '', query = ''] = text.replace(/^#\/?/, '').split(/\?(.*)/s)
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    query: new URLSearchParams(query),
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function linkTo(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parameters.set(name, value)
  const text = parameters.toString()
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

export function goTo(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): void {
  location.hash = linkTo(path, query)
}
