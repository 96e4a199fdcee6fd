/** What the installed AWS CLI itself knows of S3: its commands, what each of them needs, and what it can wait for. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { files } from './files.ts'

const [aFile = ''] = Object.keys(files)

interface Member {
  shape: string
}

interface Shape {
  type: string
  members?: Record<string, Member>
  /** Of a list. */
  member?: Member
  required?: readonly string[]
  enum?: readonly string[]
  /** The least length of a text. */
  min?: number
  /** One member is to be given, and no more. */
  union?: boolean
  /** The member that is the body. */
  payload?: string
  streaming?: boolean
  eventstream?: boolean
}

interface ModelOperation {
  name: string
  http: { method: string; requestUri: string }
  deprecated?: boolean
  input?: Member
  output?: Member
}

export interface CliModel {
  operations: Record<string, ModelOperation>
  shapes: Record<string, Shape>
  /** By name, with the operation that each of them repeats. */
  waiters: Record<string, { operation: string }>
}

/** Undefined when the CLI does not tell which files it reads, or they are not there. */
export function readCliModel(): CliModel | undefined {
  const words = ['s3api', 'list-buckets', '--generate-cli-skeleton', '--debug']
  const env = { ...process.env, AWS_DEFAULT_REGION: 'us-east-1' }
  const { stderr } = spawnSync('aws', words, { encoding: 'utf8', env })
  const service = /Loading JSON file: (\S.*[\\/]service-2\.json)/.exec(stderr ?? '')?.[1]
  if (service === undefined) return undefined
  const model: Omit<CliModel, 'waiters'> | undefined = readJson(service)
  const waiting: Pick<CliModel, 'waiters'> | undefined = readJson(join(dirname(service), 'waiters-2.json'))
  return model && waiting && { ...model, ...waiting }
}

/** Some releases of the CLI carry these files packed, some as they are. */
function readJson<T>(file: string): T | undefined {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  return existsSync(`${file}.gz`) ? JSON.parse(gunzipSync(readFileSync(`${file}.gz`)).toString()) : undefined
}

/** `ListObjectsV2`: `list-objects-v2`. The CLI spells operations, parameters and waiters alike. */
export const cliName = (name: string): string =>
  name
    .replace(/(.)([A-Z][a-z]+)/g, '$1-$2')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()

/** S3's name today for an operation that the CLI also has under an older one: the same request. */
export function presentName({ operations }: CliModel, name: string): string {
  const old = operations[name]
  if (old?.deprecated !== true) return name
  const same = Object.values(operations).find(
    ({ http, deprecated }) =>
      deprecated !== true && http.method === old.http.method && http.requestUri === old.http.requestUri,
  )
  return same?.name ?? name
}

/** The words of the shortest command that the CLI sends for an operation. */
export function shortestCommand(model: CliModel, name: string, known: Known): string[] {
  const { input, output } = model.operations[name] ?? {}
  const shape = input && model.shapes[input.shape]
  const words = (shape?.required ?? []).flatMap((parameter) => {
    const value = known[parameter] ?? sample(model, shape?.members?.[parameter])
    const word = typeof value === 'string' ? value : JSON.stringify(value)
    return [`--${cliName(parameter)}`, word]
  })
  return [cliName(name), ...words, ...(isSaved(model, output) ? ['saved'] : [])]
}

/** Values by parameter. */
type Known = Readonly<Record<string, string>>

/** The least that the CLI takes for a member. */
function sample({ shapes }: CliModel, member: Member | undefined, depth = 0): unknown {
  const shape = member && shapes[member.shape]
  if (shape === undefined || depth > 10) throw new Error(`no sample of ${JSON.stringify(member)}`)
  const inner = (of: Member | undefined): unknown => sample({ shapes, operations: {}, waiters: {} }, of, depth + 1)
  switch (shape.type) {
    case 'structure': {
      const members = Object.keys(shape.members ?? {})
      const names = shape.union === true ? members.slice(0, 1) : (shape.required ?? [])
      return Object.fromEntries(names.map((name) => [name, inner(shape.members?.[name])]))
    }
    case 'list':
      return [inner(shape.member)]
    case 'boolean':
      return true
    case 'integer':
    case 'long':
      return 1
    case 'blob':
      // The CLI sends what a file holds.
      return aFile
    case 'timestamp':
      return '2030-01-01T00:00:00Z'
    default:
      return shape.enum?.[0] ?? 'text'.padEnd(shape.min ?? 0, '-')
  }
}

/** Whether the CLI wants to know a file for what the answer's body holds. */
function isSaved({ shapes }: CliModel, output: Member | undefined): boolean {
  const shape = output && shapes[output.shape]
  const body = shape?.members?.[shape.payload ?? '']
  const { type, eventstream } = (body && shapes[body.shape]) ?? { type: '' }
  return type === 'blob' || eventstream === true
}
