/** Downloads the selection as one archive: into a file where the browser lets a page write one, otherwise through memory. */
import { useSignal } from '@preact/signals'
import { downloadZip } from 'client-zip'
import { useEffect, useMemo } from 'preact/hooks'
import { Download } from '../../model/download.ts'
import type { Row } from '../../model/listing.ts'
import { countText, failureText, sizeText } from '../../model/text.ts'
import { Button } from '../../ui/button.tsx'
import { RunDialog } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/loading.tsx'

interface DownloadParts {
  bucket: string
  folder: string
  rows: readonly Row[]
  onClose: () => void
}

export function DownloadMany({ bucket, folder, rows, onClose }: DownloadParts) {
  const download = useMemo(() => new Download(bucket, folder), [])
  const failure = useSignal('')
  useEffect(() => () => download.stop(), [])
  const run = async () => {
    try {
      await save(downloadZip(download.entries(rows)), `${bucket}.zip`)
    } catch (error) {
      failure.value = failureText(error)
    } finally {
      download.isOver.value = true
    }
  }
  const isOver = download.isOver.value
  return (
    <RunDialog
      title="Download"
      action="Download"
      kind="primary"
      question={`The selection, folders with all that is in them, as one archive (${bucket}.zip).`}
      isOver={isOver}
      onBegin={() => void run()}
      onClose={onClose}
      controls={<PauseButton download={download} />}
    >
      <p>
        {countText(download.objects.value)} objects, {sizeText(download.bytes.value)}
        {isOver && failure.value === '' && ': done.'}
      </p>
      {download.leftOut.value > 0 && (
        <p>
          {countText(download.leftOut.value)} left out: a browser cannot address a key with a part that is “.” or “..”.
        </p>
      )}
      {failure.value !== '' && <Failure>{failure}</Failure>}
    </RunDialog>
  )
}

function PauseButton({ download: { paused } }: { download: Download }) {
  return (
    <Button
      icon={paused.value ? 'play' : 'pause'}
      onClick={() => {
        paused.value = !paused.value
      }}
    >
      {paused.value ? 'Resume' : 'Pause'}
    </Button>
  )
}

interface FileHandle {
  createWritable(): Promise<WritableStream<Uint8Array>>
}
type PickFile = (options: { suggestedName: string }) => Promise<FileHandle>

async function save(archive: Response, name: string): Promise<void> {
  const pick = 'showSaveFilePicker' in window ? (window.showSaveFilePicker as PickFile) : undefined
  if (pick !== undefined && archive.body !== null) {
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
