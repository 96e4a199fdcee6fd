/** Form posts for tests, as AWS documents them, and apart from src: the policy, its signature by version 4 in both dialects or version 2, and the multipart body. */
import { createHmac } from 'node:crypto'
import type { DialectPrefix, HeaderPair, SigningKey } from './signer.ts'

export interface FormToSign {
  bucket: string
  fields: readonly HeaderPair[]
  /** Instead of one condition for each field and one for the bucket. */
  conditions?: readonly unknown[]
  /** Instead of a document of conditions and expiration. */
  policy?: string
  expiration?: string
}

export interface FormSigning {
  key: SigningKey
  prefix: DialectPrefix
  version?: 2 | 4
  nowMs?: number
}

const hmac = (algorithm: string, key: string | Buffer, text: string): Buffer =>
  createHmac(algorithm, key).update(text).digest()

/** All fields of a form before its file, with those that sign it. */
export function signForm(
  form: FormToSign,
  { key, prefix, version = 4, nowMs = Date.now() }: FormSigning,
): HeaderPair[] {
  const timestamp = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const scope = `${timestamp.slice(0, 8)}/us-east-1/s3/aws4_request`
  const signing: HeaderPair[] =
    version === 2
      ? []
      : [
          [`${prefix}algorithm`, 'AWS4-HMAC-SHA256'],
          [`${prefix}credential`, `${key.accessKeyId}/${scope}`],
          [`${prefix}date`, timestamp],
        ]
  const {
    conditions = [{ bucket: form.bucket }, ...form.fields.map(([name, value]) => ({ [name]: value }))],
    expiration = new Date(nowMs + 300_000).toISOString(),
  } = form
  const document = { expiration, conditions: [...conditions, ...signing.map(([name, value]) => ({ [name]: value }))] }
  const policy = Buffer.from(form.policy ?? JSON.stringify(document)).toString('base64')
  if (version === 2) {
    const signature = hmac('sha1', key.secretAccessKey, policy).toString('base64')
    return [...form.fields, ['AWSAccessKeyId', key.accessKeyId], ['policy', policy], ['signature', signature]]
  }
  const steps = scope.split('/')
  const signingKey = steps.reduce<string | Buffer>(
    (made, step) => hmac('sha256', made, step),
    `AWS4${key.secretAccessKey}`,
  )
  const signature = hmac('sha256', signingKey, policy).toString('hex')
  return [...form.fields, ...signing, ['policy', policy], [`${prefix}signature`, signature]]
}

export const formBoundary = '----FormBoundaryOfTests'
export const formType = `multipart/form-data; boundary=${formBoundary}`

export interface FormFileToSend {
  content: string | Buffer
  filename?: string
  /** Fields that follow it. */
  after?: readonly HeaderPair[]
  /** Instead of the line end behind the last boundary. */
  end?: string
}

const fieldPart = ([name, value]: HeaderPair): string =>
  `--${formBoundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

export function formBytes(fields: readonly HeaderPair[], file: FormFileToSend | undefined): Buffer {
  const parts = fields.map((field) => Buffer.from(fieldPart(field)))
  if (file !== undefined) {
    const named = file.filename === undefined ? '' : `; filename="${file.filename}"`
    const head = `--${formBoundary}\r\nContent-Disposition: form-data; name="file"${named}\r\nContent-Type: image/x-of-the-part\r\n\r\n`
    parts.push(Buffer.from(head), Buffer.from(file.content), Buffer.from('\r\n'))
    for (const field of file.after ?? []) parts.push(Buffer.from(fieldPart(field)))
  }
  return Buffer.concat([...parts, Buffer.from(`--${formBoundary}--${file?.end ?? '\r\n'}`)])
}
