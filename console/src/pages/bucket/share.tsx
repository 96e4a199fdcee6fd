/** Makes a URL by which anybody can read an object for some time. */
import { useSignal } from '@preact/signals'
import type { ObjectAddress } from '../../api/objects.ts'
import { attempt, tell } from '../../model/notices.ts'
import { shareLink } from '../../model/server.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, TextField } from '../../ui/fields.tsx'

const durations = [
  ['900', '15 minutes'],
  ['3600', 'one hour'],
  ['21600', 'six hours'],
  ['86400', 'one day'],
  ['604800', 'seven days'],
] as const

export function Share({ address, onClose }: { address: ObjectAddress; onClose: () => void }) {
  const seconds = useSignal<(typeof durations)[number][0]>('3600')
  const url = useSignal('')
  const make = () =>
    attempt(async () => {
      url.value = await shareLink(address, Number(seconds.value))
    })
  const copy = async () => {
    await navigator.clipboard.writeText(url.value)
    tell('Copied.')
  }
  return (
    <Dialog title="Share" onClose={onClose}>
      <p>Anybody with the link can read this object, without a key.</p>
      <Choice label="For" value={seconds} options={durations} />
      <p class="hint">The link stops working earlier if your key is disabled or rotated, or loses the permission.</p>
      {url.value !== '' && <TextField label="Link" value={url} readOnly />}
      <footer>
        {url.value !== '' && (
          <Button icon="copy" onClick={copy}>
            Copy
          </Button>
        )}
        <Button kind="primary" icon="share" onClick={make}>
          Make link
        </Button>
      </footer>
    </Dialog>
  )
}
