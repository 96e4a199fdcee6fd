/** The uploads of this page, in a corner: progress, pause, resume, failures. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { attempt } from '../model/notices.ts'
import { countText, lastName, percentText, sizeText } from '../model/text.ts'
import type { FileUpload } from '../model/upload.ts'
import { clearEnded, countUploads, pauseAll, resume, resumeAll, sentBytes, uploads } from '../model/uploads.ts'
import { Button, IconButton } from '../ui/button.tsx'

/** With thousands of uploads, the sums change all the time. They are updated this often. */
const refreshMs = 300
const rowsMax = 50

export function Page() {
  const turn = useSignal(0)
  useEffect(() => {
    const timer = setInterval(() => {
      turn.value += 1
    }, refreshMs)
    return () => clearInterval(timer)
  }, [])
  turn.value
  const { all, done, failed, paused, bytes } = countUploads()
  const sent = sentBytes()
  const isOver = done === all
  return (
    <section class="panel transfers" aria-label="Uploads">
      <header>
        <h2>Uploads</h2>
        <span class="bar">
          {paused + failed > 0 && (
            <Button icon="play" onClick={resumeAll}>
              Resume
            </Button>
          )}
          {done + failed + paused < all && (
            <Button icon="pause" onClick={pauseAll}>
              Pause
            </Button>
          )}
          {done > 0 && <Button onClick={clearEnded}>Clear</Button>}
        </span>
      </header>
      <div role="status">
        {countText(done)} of {countText(all)} files, {sizeText(sent)} of {sizeText(bytes)}
        {failed > 0 && `, ${countText(failed)} failed`}
        {paused > 0 && `, ${countText(paused)} paused`}
      </div>
      <progress value={bytes === 0 ? Number(isOver) : sent} max={bytes === 0 ? 1 : bytes} aria-label="All uploads" />
      <ul>
        {uploads.value
          .filter(isShown)
          .slice(0, rowsMax)
          .map((upload) => (
            <UploadRow key={upload.key} upload={upload} />
          ))}
      </ul>
    </section>
  )
}

const isShown = ({ state }: FileUpload): boolean => ['running', 'paused', 'failed'].includes(state.value)

function UploadRow({ upload }: { upload: FileUpload }) {
  const { key, file, state, failure } = upload
  const name = lastName(key)
  const isRunning = state.value === 'running'
  return (
    <li>
      <span title={failure.value === '' ? key : `${key}: ${failure.value}`}>
        {name}{' '}
        <span class="quiet">
          {state.value === 'failed' ? failure.value : percentText(upload.sentBytes.value, file.size)}
        </span>
      </span>
      {isRunning ? (
        <IconButton icon="pause" label={`Pause ${name}`} onClick={() => upload.pause()} />
      ) : (
        <IconButton icon="play" label={`Resume ${name}`} onClick={() => resume(upload)} />
      )}
      <IconButton icon="close" label={`Cancel ${name}`} onClick={() => attempt(() => upload.cancel())} />
    </li>
  )
}
