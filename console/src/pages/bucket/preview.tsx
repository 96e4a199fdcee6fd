/** Shows the beginning of what a browser can show without running it. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Described, type ObjectAddress, readStart } from '../../api/objects.ts'
import { failureText, sizeText } from '../../model/text.ts'
import { Button } from '../../ui/button.tsx'
import { Failure, Loading } from '../../ui/loading.tsx'

const textBytesMax = 64 * 1024
const mediaBytesMax = 32 * 1024 * 1024

type Kind = 'image' | 'video' | 'audio' | 'text' | undefined

/** SVG is an image, in which an `img` runs no script. HTML is text here. */
function previewKind(contentType: string, key: string): Kind {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (/^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon)$/.test(type)) return 'image'
  if (/^video\/(mp4|webm|ogg)$/.test(type)) return 'video'
  if (/^audio\//.test(type)) return 'audio'
  if (/^text\/|json|xml|javascript|yaml|toml|csv/.test(type)) return 'text'
  const isText =
    /\.(txt|md|json|ya?ml|toml|csv|tsv|log|xml|html?|css|[cm]?[jt]sx?|py|go|rs|c|h|cpp|java|sh|sql|ini|conf)$/i.test(
      key,
    )
  return isText ? 'text' : undefined
}

export function Preview({ address, described }: { address: ObjectAddress; described: Described }) {
  const shown = useSignal(false)
  const kind = previewKind(described.contentType, address.key)
  if (kind === undefined || (kind !== 'text' && described.bytes > mediaBytesMax)) return null
  return (
    <>
      <h3>Preview</h3>
      {shown.value ? (
        <Shown address={address} kind={kind} bytes={described.bytes} />
      ) : (
        <p>
          <Button
            onClick={() => {
              shown.value = true
            }}
          >
            Show {kind}
          </Button>
        </p>
      )}
    </>
  )
}

function Shown({ address, kind, bytes }: { address: ObjectAddress; kind: Exclude<Kind, undefined>; bytes: number }) {
  const text = useSignal<string | undefined>(undefined)
  const url = useSignal<string | undefined>(undefined)
  const failure = useSignal('')
  useEffect(() => {
    let isGone = false
    const load = async () => {
      const blob = await readStart(address, bytes === 0 ? 0 : kind === 'text' ? Math.min(bytes, textBytesMax) : bytes)
      if (isGone) return
      if (kind === 'text') text.value = await blob.text()
      else url.value = URL.createObjectURL(blob)
    }
    load().catch((error: unknown) => {
      failure.value = failureText(error)
    })
    return () => {
      isGone = true
      if (url.peek() !== undefined) URL.revokeObjectURL(url.peek() ?? '')
    }
  }, [])
  if (failure.value !== '') return <Failure>{failure}</Failure>
  if (text.value !== undefined) {
    return (
      <>
        <pre class="preview">{text}</pre>
        {bytes > textBytesMax && <p class="quiet">The first {sizeText(textBytesMax)}.</p>}
      </>
    )
  }
  if (url.value === undefined) return <Loading />
  if (kind === 'image') return <img class="preview" src={url.value} alt={address.key} />
  // biome-ignore lint/a11y/useMediaCaption: what lies in the bucket has none
  if (kind === 'video') return <video class="preview" src={url.value} controls />
  // biome-ignore lint/a11y/useMediaCaption: what lies in the bucket has none
  return <audio src={url.value} controls />
}
