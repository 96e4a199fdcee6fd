/** Downloads the selection as one archive, into a file where the browser lets a page write one, else through memory. */
import { useSignal } from '@preact/signals'
import { downloadZip } from 'client-zip'
import { useEffect, useMemo } from 'preact/hooks'
import { Download } from '../../model/download.ts'
import type { Row } from '../../model/listing.ts'
import { countText, failureText, sizeText } from '../../model/text.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'

interface DownloadParts {
  bucket: string
  folder: string
  rows: readonly Row[]
  onClose: () => void
}

export function DownloadMany({ bucket, folder, rows, onClose }: DownloadParts) {
  const download = useMemo(() => new Download(bucket, folder), [])
  const failure = useSignal('')
  const begun = useSignal(false)
  useEffect(() => () => download.stop(), [])
  const run = async () => {
    begun.value = true
    try {
      await save(downloadZip(download.entries(rows)), `${bucket}.zip`)
    } catch (error) {
      failure.value = failureText(error)
    } finally {
      download.isOver.value = true
    }
  }
  return (
    <Dialog title="Download" onClose={onClose}>
      {begun.value ? (
        <div role="status">
          <p>
            {countText(download.objects.value)} objects, {sizeText(download.bytes.value)}
            {download.isOver.value && failure.value === '' && ': done.'}
          </p>
          {!download.isOver.value && <progress />}
        </div>
      ) : (
        <p>The selection, folders with all that is in them, as one archive ({bucket}.zip).</p>
      )}
      {failure.value !== '' && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      <footer>
        <Button onClick={onClose}>{download.isOver.value ? 'Close' : 'Cancel'}</Button>
        {begun.value && !download.isOver.value && (
          <Button
            icon={download.paused.value ? 'play' : 'pause'}
            onClick={() => {
              download.paused.value = !download.paused.value
            }}
          >
            {download.paused.value ? 'Resume' : 'Pause'}
          </Button>
        )}
        {!begun.value && (
          <Button kind="primary" icon="download" onClick={() => void run()}>
            Download
          </Button>
        )}
      </footer>
    </Dialog>
  )
}

interface FileHandle {
  createWritable(): Promise<WritableStream<Uint8Array>>
}
type PickFile = (options: { suggestedName: string }) => Promise<FileHandle>

async function save(archive: Response, name: string): Promise<void> {
  const pick = 'showSaveFilePicker' in window ? (window.showSaveFilePicker as PickFile) : undefined
  if (pick !== undefined && archive.body !== null && !navigator.webdriver) {
    const file = await pick({ suggestedName: name })
    await archive.body.pipeTo(await file.createWritable())
    return
  }
  const url = URL.createObjectURL(await archive.blob())
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
