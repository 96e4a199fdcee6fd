/** What S3 needs from everything that lies between clients and the server, check by check. None of them writes anything. */
import { isIP } from 'node:net'
import { presignObject } from '../../auth/presign.ts'
import { systemClock } from '../../clock.ts'
import { trailingHeaders, trailingPayload } from '../../endpoint/trailing-digest.ts'
import { childText } from '../../endpoint/xml.ts'
import { limits } from '../../limits.ts'
import { percentEncode } from '../../percent-encode.ts'
import { ask, NoReply, type Patient, type Question, type Reply, TookBody } from './asking.ts'
import { differenceBetween } from './difference.ts'

export interface Finding {
  state: 'well' | 'warning' | 'ill' | 'unknown'
  says: string
  advice?: string | undefined
}

export interface Check {
  name: string
  /** Never rejects. */
  run(patient: Patient, bucket: string): Promise<Finding>
  /** Nothing else can be said when this fails. */
  isVital?: true
}

const well = (says: string): Finding => ({ state: 'well', says })
const ill = (says: string, advice?: string): Finding => ({ state: 'ill', says, advice })

/** A check that sends one request. `judge` gets what the server itself has answered, to a request whose signature it has accepted. */
function check(
  name: string,
  questionOf: (bucket: string, patient: Patient) => Question,
  judge: (reply: Reply, bucket: string, patient: Patient) => Finding,
): Check {
  return {
    name,
    run: async (patient, bucket) => {
      try {
        const reply = await ask(patient, questionOf(bucket, patient))
        return refusalIn(reply, patient) ?? judge(reply, bucket, patient)
      } catch (error) {
        if (error instanceof TookBody) return tookBody
        if (error instanceof NoReply) return ill(error.message)
        throw error
      }
    },
  }
}

const tookBody: Finding = {
  state: 'warning',
  says: 'something on the way takes whole bodies before it asks the server',
  advice: 'Large uploads wait twice, and need room there. nginx: proxy_request_buffering off.',
}

/** What is wrong with any request whose answer is not the server's own, or says that the signature is wrong. */
function refusalIn(reply: Reply, { key }: Patient): Finding | undefined {
  const { status, headers, code, error, canonical } = reply
  const isFromServer = 'x-amz-request-id' in headers || error !== undefined
  if (status === 413)
    return ill('something on the way refuses bodies of this size (413)', 'nginx: client_max_body_size 0.')
  if (!isFromServer)
    return ill(
      `something on the way answers ${status}, not the server`,
      `It calls itself ${headers.server ?? 'nothing'}.`,
    )
  if (code === 'InvalidAccessKeyId') return ill(`the server does not know the access key ${key.accessKeyId}`)
  if (code === 'RequestTimeTooSkewed')
    return ill('the clocks of this machine and the server differ by more than 15 minutes')
  if (code !== 'SignatureDoesNotMatch') return undefined
  if (canonical === '') return ill('presigned URLs are refused: something on the way changes them')
  const received = childText(error, 'CanonicalRequest')
  const found = received === undefined ? undefined : differenceBetween(canonical, received)
  if (found === undefined)
    return ill(
      'the signature does not match, although the request arrived as it was sent',
      'The secret key is another one than the server’s.',
    )
  return ill(`${found.what} was changed on the way: sent '${found.sent}', arrived '${found.arrived}'`, found.advice)
}

/** The server has accepted the signature, and looked for the bucket. */
const accepted = (says: string) => () => well(says)

const oddKey = "a b+c%25d=e&f//g/./h/../ü~(1)'!*;:@,$.txt/"
const oddPath = (bucket: string): string => `/${bucket}/${oddKey.split('/').map(percentEncode).join('/')}`

/** A body of no bytes, with its checksum behind it. */
const noChunks = Buffer.from(['0', 'x-amz-checksum-crc32:AAAAAA==', '', ''].join('\r\n'))

const clock: Check = check(
  'clock',
  () => ({ method: 'GET', target: '/' }),
  ({ headers }) => {
    const serverMs = Date.parse(headers.date ?? '')
    const seconds = Math.round(Math.abs(systemClock.now() - serverMs) / 1000)
    if (Number.isNaN(seconds)) return { state: 'unknown', says: 'the answer has no date' }
    if (seconds <= 60) return well('the clocks of this machine and the server agree')
    return {
      state: 'warning',
      says: `the clocks of this machine and the server differ by ${seconds} s`,
      advice: 'Signatures are refused from 15 minutes on.',
    }
  },
)

export const checks: readonly Check[] = [
  {
    ...check(
      'signature',
      () => ({ method: 'GET', target: '/' }),
      // The admin port refuses requests of S3, and a port with TLS those without: both say so.
      ({ code, error }) =>
        code === 'InvalidRequest'
          ? ill(childText(error, 'Message') ?? code)
          : well('the server accepts the key and its signatures'),
    ),
    isVital: true,
  },
  clock,
  check(
    'paths',
    (bucket) => ({ method: 'GET', target: oddPath(bucket) }),
    accepted('keys of every kind of character arrive as they are sent'),
  ),
  check(
    'queries',
    (bucket) => ({
      method: 'GET',
      target: `/${bucket}?list-type=2&prefix=a%2Bb%20c%25%2F%2F&delimiter=%2F&start-after=`,
    }),
    accepted('queries arrive as they are sent'),
  ),
  check(
    'HEAD',
    (bucket) => ({ method: 'HEAD', target: `/${bucket}/key` }),
    ({ status }) =>
      status === 403 ? ill('HEAD is refused', 'nginx: proxy_cache_convert_head off.') : well('HEAD arrives as HEAD'),
  ),
  check(
    'headers',
    (bucket) => ({
      method: 'PUT',
      target: `/${bucket}/key`,
      headers: { 'x-amz-meta-long': 'm'.repeat(1900), 'x-amz-tagging': `long=${'t'.repeat(250)}` },
    }),
    accepted('long headers arrive'),
  ),
  check(
    'large bodies',
    (bucket) => ({
      method: 'PUT',
      target: `/${bucket}/key`,
      headers: { 'content-length': String(limits.putBytesMax), expect: '100-continue' },
      payloadHash: 'UNSIGNED-PAYLOAD',
      awaitsContinue: true,
    }),
    accepted('bodies of 5 GiB are let through'),
  ),
  check(
    'chunked uploads',
    (bucket) => ({
      method: 'PUT',
      target: `/${bucket}/key`,
      headers: trailingHeaders(0, undefined),
      payloadHash: trailingPayload,
      body: noChunks,
    }),
    accepted('uploads in chunks, with their checksum behind them, arrive'),
  ),
  check('links', presigned, accepted('presigned URLs work')),
  { name: 'bucket in the host', run: bucketInHost },
]

function presigned(bucket: string, { url, key, region }: Patient): Question {
  const link = presignObject(
    { endpoint: url.origin, bucket, key: 'key', expiresSeconds: 60 },
    key,
    region,
    systemClock.now(),
  )
  return { method: 'GET', target: link.slice(url.origin.length), isSigned: true }
}

const pathStyle = 'Clients need path style (forcePathStyle), unless that is changed.'

async function bucketInHost(patient: Patient, bucket: string): Promise<Finding> {
  const { hostname, host } = patient.url
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0)
    return { state: 'unknown', says: 'an address in numbers can’t have buckets in its host', advice: pathStyle }
  const inHost = check(
    '',
    () => ({ method: 'GET', target: '/key', host: `${bucket}.${host}` }),
    ({ error }) =>
      childText(error, 'BucketName') === bucket
        ? well(`${bucket}.${host} means the bucket`)
        : {
            state: 'warning',
            says: `the server does not take ${bucket} in the host for a bucket`,
            advice: `Start it with --domain ${hostname}. ${pathStyle}`,
          },
  )
  const finding = await inHost.run(patient, bucket)
  return /ENOTFOUND|EAI_AGAIN/.test(finding.says)
    ? { state: 'unknown', says: `names such as ${bucket}.${hostname} have no address`, advice: pathStyle }
    : finding
}
