/** Requests to the admin API, which this page came from. The browser sends the cookie; the token shows that this page sends the request. */
import { signal } from '@preact/signals'
import { Refusal } from './refusal.ts'

/** Counts the requests that were refused because the session has ended or never existed. */
export const sessionsEnded = signal(0)

let csrfToken = ''

export function useCsrfToken(token: string): void {
  csrfToken = token
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Throws `Refusal`, or `TypeError` when the server can't be reached. `T` is what the operation answers. */
export async function askAdmin<T = undefined>(method: Method, path: string, input?: unknown): Promise<T> {
  const answer = await fetch(path, {
    method,
    credentials: 'same-origin',
    cache: 'no-store',
    headers: {
      ...(input === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'GET' ? {} : { 'x-csrf-token': csrfToken }),
    },
    ...(input === undefined ? {} : { body: JSON.stringify(input) }),
  })
  const text = await answer.text()
  const body = text === '' ? undefined : JSON.parse(text)
  if (!answer.ok) throw refusal(answer.status, body)
  return body
}

interface ErrorBody {
  code?: string
  message?: string
}

function refusal(status: number, { code, message }: ErrorBody = {}): Refusal {
  if (code === 'SessionEnded') sessionsEnded.value += 1
  return new Refusal(status, code, message)
}

/** A path of the API; the segments are encoded. */
export const adminPath = (...segments: readonly string[]): string => `/v1/${segments.map(encodeURIComponent).join('/')}`

/** Calls `see` with each event of a stream until the returned function is called. After an interruption, the browser connects again. */
export function watchAdmin<T>(path: string, see: (event: T) => void, lost: (isLost: boolean) => void): () => void {
  const source = new EventSource(path)
  source.onopen = () => lost(false)
  source.onerror = () => lost(true)
  source.onmessage = ({ data }) => see(JSON.parse(data))
  return () => source.close()
}
