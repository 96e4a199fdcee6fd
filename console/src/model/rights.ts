/** What the user may do with a bucket or an object, as the server explains it. The server decides each request; this hides what it would refuse. */
import { createContext } from 'preact'
import { askAdmin } from '../api/admin.ts'
import { useLoaded } from './loaded.ts'

export interface Right {
  /** Such as `s3:GetObject`. */
  action: string
  /** `bucket`, `bucket/key` or `*`. */
  resource: string
}

/** How many questions the server takes at once. */
const questionsMax = 64

/** Of the questions in turn. */
export async function ownRights(questions: readonly Right[]): Promise<boolean[]> {
  const pages = Array.from({ length: Math.ceil(questions.length / questionsMax) }, (_, i) =>
    questions.slice(i * questionsMax, (i + 1) * questionsMax),
  )
  const answers = await Promise.all(
    pages.map((page) =>
      askAdmin<{ answers: { allowed: boolean }[] }>('POST', '/v1/session/explain', { questions: page }),
    ),
  )
  return answers.flatMap((page) => page.answers.map(({ allowed }) => allowed))
}

export type MayDo = (action: string) => boolean

/** Nothing is offered until the answer is there. Where there is none, everything is: the server refuses what it must. */
export function useRights(resource: string, actions: readonly string[]): MayDo {
  const load = () => ownRights(actions.map((action) => ({ action, resource })))
  const { state } = useLoaded(load, [resource])
  if (state.is === 'loading') return () => false
  if (state.is === 'failed') return () => true
  return (action) => state.value[actions.indexOf(action)] ?? false
}

/** Of the object that a window shows. */
export const ObjectRights = createContext<MayDo>(() => false)

/** Whether the user may change the setting of a panel. */
export const MayChange = createContext(true)
