/** The console's files as the build left them. They are read for the first request, and sent with a policy that lets the page talk to its own server only. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { S3Error } from '../../errors.ts'
import { sendBytes } from '../../http/answer.ts'
import type { Exchange } from '../../http/exchange.ts'
import { headerValue, type RequestHead } from '../../http/request-head.ts'
import { guardHeaders } from './answer.ts'

interface ConsoleFile {
  bytes: Buffer
  gzip: Buffer
  contentType: string
  /** The name holds a digest of the contents, so a browser never has to ask again. */
  isImmutable: boolean
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Where the build leaves the console, relative to the joined files, the compiled files and the source. */
const directories = ['console/', '../../../joined/console/', '../../../dist/joined/console/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

export class ConsoleFiles {
  #files: ReadonlyMap<string, ConsoleFile> | undefined

  /** False: no file has this path. Throws what reading the files throws. */
  answer(exchange: Exchange, head: RequestHead, s3Endpoint: () => string): boolean {
    const { method, rawPath } = head
    if (method !== 'GET' && method !== 'HEAD') return false
    if (rawPath !== '/' && !rawPath.startsWith('/assets/')) return false
    this.#files ??= readFiles()
    const file = this.#files.get(rawPath)
    if (file === undefined && rawPath === '/') {
      throw new S3Error('NotImplemented', { message: 'The console has not been built: `npm run build` builds it.' })
    }
    if (file === undefined) return false
    exchange.operationName = 'Console'
    const { bytes, gzip, contentType, isImmutable } = file
    const headers = [...guardHeaders(policyOf(s3Endpoint())), 'Content-Type', contentType, 'Vary', 'Accept-Encoding']
    if (isImmutable) headers[headers.indexOf('no-store')] = 'public, max-age=31536000, immutable'
    const takesGzip = /\bgzip\b/.test(headerValue(head, 'accept-encoding') ?? '')
    if (takesGzip) headers.push('Content-Encoding', 'gzip')
    sendBytes(exchange, head, 200, headers, takesGzip ? gzip : bytes)
    return true
  }
}

/** Forbids scripts and styles from elsewhere and inline. The page itself fetches previews and shows them from its memory. */
function policyOf(s3Endpoint: string): string {
  const directives = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' blob:",
    'media-src': 'blob:',
    'connect-src': `'self' ${new URL(s3Endpoint).origin}`,
    'form-action': "'none'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
  }
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ')
}

/** Empty when the console was not built. */
function readFiles(): ReadonlyMap<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>()
  const directory = directories.find((path) => existsSync(join(path, 'index.html')))
  if (directory === undefined) return files
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) !== '')
  for (const name of names) {
    const bytes = readFileSync(join(directory, name))
    const contentType = contentTypes[extname(name)] ?? 'application/octet-stream'
    const path = name === 'index.html' ? '/' : `/${name}`
    files.set(path, { bytes, gzip: gzipSync(bytes), contentType, isImmutable: path !== '/' })
  }
  return files
}
