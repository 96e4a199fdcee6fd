/** MinIO's variables that ask for something that they don't bring about here. A start warns of those that are set. Pure. */

import { optionNames, options } from './options.ts'

const ofData = 'stores, locations and the key ring say how data is kept'
const closesConsole = '--admin-listen off closes the console, with the rest of the admin port'
const ofEvents = 'webhooks take events, and [webhooks.NAME] or MINIO_NOTIFY_WEBHOOK_ENABLE_NAME names them'

/** Patterns of names, and what to use instead. */
const ineffective: readonly (readonly [RegExp, string])[] = [
  [/^MINIO_STORAGE_CLASS_(?:STANDARD|RRS|OPTIMIZE)$/, ofData],
  [/^MINIO_ERASURE_SET_DRIVE_COUNT$/, ofData],
  [/^MINIO_FS_OSYNC$/, ofData],
  [/^MINIO_DRIVE_SYNC$/, ofData],
  [/^MINIO_API_ODIRECT$/, ofData],
  [/^MINIO_API_DISABLE_ODIRECT$/, ofData],
  [/^MINIO_HEAL_(?:BITROTSCAN|BITROT_SCAN)$/, '`holdfast scrub`, and --scrub-interval, verify what is stored'],
  [/^MINIO_KMS_/, ofData],
  [/^MINIO_NOTIFY_(?!WEBHOOK_(?:ENABLE|ENDPOINT|AUTH_TOKEN|COMMENT|QUEUE_DIR|QUEUE_LIMIT)(?:_|$))/, ofEvents],
  [/^MINIO_ILM_/, ofData],
  [/^MINIO_BATCH_/, ofData],
  [/^MINIO_(?:ACCESS|SECRET)_KEY(?:_FILE)?$/, 'MINIO_ROOT_USER and MINIO_ROOT_PASSWORD give the root key'],
  [/^MINIO_ROOT_(?:USER|PASSWORD)_FILE$/, 'MINIO_ROOT_USER and MINIO_ROOT_PASSWORD give the root key'],
  [/^MINIO_AUDIT_/, '--audit-log or --audit-webhook keeps an audit log'],
  [/^MINIO_IDENTITY_/, '[access.oidc] names issuers'],
  [/^MINIO_POLICY_PLUGIN_/, 'policies of users and buckets decide'],
  [/^MINIO_SERVER_URL$/, '--public-endpoint names the URL that clients use'],
]

export interface UnfollowedVariable {
  name: string
  /** What to use instead. */
  instead: string
}

/** The variables that are set. */
export function unfollowedMinioVariables(environment: NodeJS.ProcessEnv): UnfollowedVariable[] {
  const overridden = optionNames.flatMap((name) => overriddenOf(options[name].environment, environment))
  const unknown = Object.keys(environment).flatMap((name) => {
    const instead = insteadOf(name, environment[name])
    return instead === undefined ? [] : [{ name, instead }]
  })
  return [...overridden, ...unknown].sort((one, other) => (one.name < other.name ? -1 : 1))
}

function insteadOf(name: string, value: string | undefined): string | undefined {
  if (!value) return undefined
  if (name === 'MINIO_BROWSER') return value === 'off' ? closesConsole : undefined
  return ineffective.find(([pattern]) => pattern.test(name))?.[1]
}

/** An image sets variables of its own, so whoever sets MinIO's may not know of the others. */
function overriddenOf(names: readonly string[], environment: NodeJS.ProcessEnv): UnfollowedVariable[] {
  const [first, ...others] = names.filter((name) => environment[name])
  if (first === undefined) return []
  return others
    .filter((name) => name.startsWith('MINIO_') && environment[name] !== environment[first])
    .map((name) => ({ name, instead: `${first} is set too, and comes first` }))
}
