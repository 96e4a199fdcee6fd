/** Options about the admin port and what it tells. Part of the table in `options.ts`. */
import {
  type AdminAddress,
  addressOrOff,
  durationOrNever,
  endpointUrls,
  type ListenAddress,
  path,
  token,
  webhookUrl,
} from './kinds.ts'

export interface AdminSettings {
  /** Absent: no admin port. */
  adminListen: AdminAddress | undefined
  adminPublicEndpoints: string[]
  /** Absent: metrics are for clients on this machine. */
  adminMetricsToken: string | undefined
  /** Absolute. Absent: there is no such file. */
  auditLog: string | undefined
  auditWebhook: string | undefined
  auditWebhookToken: string | undefined
  /** Absent: no request is reported for its duration. */
  slowRequestMs: number | undefined
}

/** The values before defaults are resolved. */
export interface AdminValues extends Omit<AdminSettings, 'adminListen' | Unset> {
  adminListen: ListenAddress | undefined
  adminMetricsToken: string
  auditLog: string
  auditWebhook: string
  auditWebhookToken: string
}

/** Options that may have no value. */
type Unset = 'adminMetricsToken' | 'auditLog' | 'auditWebhook' | 'auditWebhookToken'

export const adminOptions = {
  adminListen: {
    flag: 'admin-listen',
    environment: ['HOLDFAST_ADMIN_LISTEN', 'MINIO_CONSOLE_ADDRESS'],
    toml: 'adminListen',
    kind: addressOrOff,
    initial: ['127.0.0.1:9001'],
    summary:
      'Address of the admin port, with the console, the API of `holdfast accounts`, `users`, `policies` and `keys`, and metrics; with TLS, if the S3 port has it. Without this option, the server does without the port when the address is taken.',
  },
  adminPublicEndpoints: {
    flag: 'admin-public-endpoint',
    environment: ['HOLDFAST_ADMIN_PUBLIC_ENDPOINTS', 'MINIO_BROWSER_REDIRECT_URL'],
    toml: 'adminPublicEndpoints',
    kind: endpointUrls,
    initial: [],
    summary:
      "URL under which browsers reach the admin port, such as `https://console.example.com`. Addresses and this machine's name need no mention. Other names are refused, because any site could point one to this server.",
  },
  adminMetricsToken: {
    environment: ['HOLDFAST_METRICS_TOKEN'],
    toml: 'adminMetricsToken',
    kind: token,
    summary:
      'Bearer token for `/metrics` from other machines. Without it, only clients on this machine read metrics. No flag takes it, because command lines are visible to other users.',
  },
  auditLog: {
    flag: 'audit-log',
    environment: ['HOLDFAST_AUDIT_LOG'],
    toml: 'audit.file',
    kind: path,
    summary:
      'File that each change of accounts, keys, buckets and of the server itself is appended to, as a line of JSON, before its answer is sent. While it cannot be written, changes are refused.',
  },
  auditWebhook: {
    flag: 'audit-webhook',
    environment: ['HOLDFAST_AUDIT_WEBHOOK'],
    toml: 'audit.webhook',
    kind: webhookUrl,
    summary:
      'URL that the same lines are posted to, in order. While it takes none, up to 1,000 wait in memory, and later ones are dropped with a warning.',
  },
  auditWebhookToken: {
    environment: ['HOLDFAST_AUDIT_WEBHOOK_TOKEN'],
    toml: 'audit.webhookToken',
    kind: token,
    summary: 'Bearer token for that URL. No flag takes it, because command lines are visible to other users.',
  },
  slowRequestMs: {
    flag: 'slow-request',
    environment: ['HOLDFAST_SLOW_REQUEST'],
    toml: 'slowRequest',
    kind: durationOrNever(1),
    initial: ['never'],
    summary: 'A request whose answer takes this long to begin is logged as a warning.',
  },
}
