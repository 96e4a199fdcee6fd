/** Other servers of S3, which run already: `--peer NAME=URL,KEY,SECRET`. */
import type { Server } from './server.ts'

export class PeerError extends Error {}

/** Throws `PeerError` for what names no peer. */
export function parsePeer(text: string): Server {
  const [, name, address = '', accessKeyId = '', secretAccessKey = ''] =
    /^([\w.-]+)=([^,]+),([^,]+),(.+)$/.exec(text) ?? []
  if (name === undefined) throw new PeerError(`--peer expects NAME=URL,KEY,SECRET, not '${text}'`)
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'http:') {
    throw new PeerError(`--peer ${name} expects a URL that begins with http://: TLS is not what is measured`)
  }
  const endpoint = {
    host: url.hostname,
    port: Number(url.port || 80),
    region: 'us-east-1',
    accessKeyId,
    secretAccessKey,
    bucket: 'holdfast-bench',
    stores: true,
    encrypts: false,
  }
  return { name, endpoint, pid: undefined, close: async () => {} }
}
