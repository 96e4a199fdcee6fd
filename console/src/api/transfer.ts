/** Moves bytes between the user's files and objects by presigned requests, which report their progress and can be stopped. */
import { isOutOfReach, presignedUrl, refusalOf } from './s3-request.ts'

/** Long enough, because each presigned URL is used at once. */
const expiresSeconds = 3600

export interface Sending {
  body: Blob
  /** How many bytes of the body the browser has sent. */
  progress(sentBytes: number): void
  signal: AbortSignal
}

export interface SendTo {
  bucket: string
  key: string
  query?: Readonly<Record<string, string | number>>
  contentType?: string
}

/** Resolves with the ETag. Rejects with `Refusal`, or with the signal's reason. Not `fetch`, because that does not report how much it has sent. */
export async function send({ contentType, ...target }: SendTo, { body, progress, signal }: Sending): Promise<string> {
  if (isOutOfReach(target.key)) throw new Error('A browser cannot address a key with a part that is “.” or “..”.')
  const url = await presignedUrl({ method: 'PUT', ...target, expiresSeconds })
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const stop = () => request.abort()
    signal.addEventListener('abort', stop, { once: true })
    request.upload.onprogress = ({ loaded }) => progress(loaded)
    request.onabort = () => reject(signal.reason)
    request.onerror = () => reject(new TypeError('The connection was lost.'))
    request.onload = () => {
      const { status } = request
      if (status === 200) resolve(request.getResponseHeader('etag') ?? '')
      else reject(refusalOf(status, request.responseText))
    }
    request.onloadend = () => signal.removeEventListener('abort', stop)
    request.open('PUT', url)
    // Without this, the browser would send the type that it thinks the body has.
    request.setRequestHeader('content-type', contentType ?? 'application/octet-stream')
    request.send(body)
  })
}
