/** What protects a version from removal: a legal hold, or a retention until a date. */
import { useSignal } from '@preact/signals'
import { useContext } from 'preact/hooks'
import { bucketLock } from '../../api/buckets.ts'
import {
  type LockMode,
  type ObjectAddress,
  type ObjectLock,
  objectLock,
  putLegalHold,
  putRetention,
} from '../../api/objects.ts'
import { useLoaded } from '../../model/loaded.ts'
import { attempt, tell } from '../../model/notices.ts'
import { useOpened } from '../../model/opened.ts'
import { ObjectRights } from '../../model/rights.ts'
import { timeText } from '../../model/text.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Check, Choice, TextField } from '../../ui/fields.tsx'
import { Show } from '../../ui/loading.tsx'

/** `undefined`: the bucket has no Object Lock, so its objects can't be locked. */
const load = async (address: ObjectAddress): Promise<ObjectLock | undefined> =>
  (await bucketLock(address.bucket)) === undefined ? undefined : objectLock(address)

export function ObjectLockPart({ address }: { address: ObjectAddress }) {
  const { state, reload } = useLoaded(() => load(address), [])
  const editing = useOpened()
  const may = useContext(ObjectRights)
  return (
    <Show of={state} again={reload}>
      {(lock) =>
        lock === undefined ? null : (
          <>
            <h3>Lock</h3>
            <div class="bar">
              <Button
                icon="lock"
                pressed={lock.hold}
                disabled={!may('s3:PutObjectLegalHold')}
                onClick={async () => {
                  await attempt(
                    () => putLegalHold(address, !lock.hold),
                    lock.hold ? 'The hold is lifted.' : 'The version is on hold.',
                  )
                  await reload()
                }}
              >
                Legal hold
              </Button>
              <Button icon="clock" disabled={!may('s3:PutObjectRetention')} onClick={() => editing.open(true)}>
                {lock.retention === undefined
                  ? 'Retain…'
                  : `${lock.retention.mode.toLowerCase()} until ${timeText(lock.retention.until)}`}
              </Button>
            </div>
            {editing.for && <Retain address={address} lock={lock} onDone={reload} onClose={editing.close} />}
          </>
        )
      }
    </Show>
  )
}

interface RetainParts {
  address: ObjectAddress
  lock: ObjectLock
  onDone: () => Promise<void>
  onClose: () => void
}

function Retain({ address, lock, onDone, onClose }: RetainParts) {
  const mode = useSignal<LockMode>(lock.retention?.mode ?? 'GOVERNANCE')
  const until = useSignal(localTime(lock.retention?.until))
  const bypass = useSignal(false)
  const save = async () => {
    await putRetention(address, { mode: mode.value, until: new Date(until.value).toISOString() }, bypass.value)
    tell('Retention changed.')
    await onDone()
  }
  return (
    <FormDialog title="Retain this version" action="Retain" onClose={onClose} onSubmit={save}>
      <Choice
        label="Mode"
        value={mode}
        options={[
          ['GOVERNANCE', 'Governance: users with the permission can shorten or lift it'],
          ['COMPLIANCE', 'Compliance: nobody can shorten or lift it'],
        ]}
      />
      <TextField label="Until" type="datetime-local" value={until} required />
      {lock.retention?.mode === 'GOVERNANCE' && (
        <Check label="Bypass the current retention to shorten it" value={bypass} />
      )}
    </FormDialog>
  )
}

/** In the form of the input: local time, without a zone. */
function localTime(time: string | undefined): string {
  if (time === undefined) return ''
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
