/** MinIO's variables that promise something about stored data, but have no effect here. A start warns of those that are set. Pure. */

const ineffective = [
  /^MINIO_STORAGE_CLASS_(?:STANDARD|RRS|OPTIMIZE)$/,
  /^MINIO_ERASURE_SET_DRIVE_COUNT$/,
  /^MINIO_FS_OSYNC$/,
  /^MINIO_DRIVE_SYNC$/,
  /^MINIO_API_ODIRECT$/,
  /^MINIO_API_DISABLE_ODIRECT$/,
  /^MINIO_HEAL_(?:BITROTSCAN|BITROT_SCAN)$/,
  /^MINIO_KMS_/,
  /^MINIO_NOTIFY_(?!WEBHOOK_(?:ENABLE|ENDPOINT|AUTH_TOKEN|COMMENT|QUEUE_DIR|QUEUE_LIMIT)(?:_|$))/,
  /^MINIO_ILM_/,
  /^MINIO_BATCH_/,
]

/** The names of the variables that are set. */
export function unfollowedMinioVariables(environment: NodeJS.ProcessEnv): string[] {
  return Object.keys(environment)
    .filter((name) => environment[name] && ineffective.some((pattern) => pattern.test(name)))
    .sort()
}
