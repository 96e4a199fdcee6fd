/** Renders docs/configuration.md from the option table. */
import { limits } from '../limits.ts'
import { awsCredentialPair, credentialPairs, type Option, optionNames, options } from './options.ts'

export function configurationPage(): string {
  return `${[...optionTable, ...credentials, ...signals, ...accounts, ...issuers, ...webhooks, ...sites, ...storesAndLocations, ...storesElsewhere].join('\n')}\n`
}

const MiB = 1024 * 1024
const remotePartMiB = 5
const remoteMemoryMiB = limits.remoteWriteBytesMax / MiB

const optionTable: readonly string[] = [
  '# Configuration',
  '',
  '<!-- Generated from src/config/options.ts by `npm run docs`. Do not edit. -->',
  '',
  'Flags override environment variables, which override the TOML file, which overrides the initial value. Where several',
  'variables are named, the first one set counts; an empty variable counts as not set. An unknown key in the file is refused.',
  '',
  '| Flag | Environment | TOML | Initial | Meaning |',
  '| --- | --- | --- | --- | --- |',
  ...optionNames.map((name) => row(options[name])),
  '',
  'A `DURATION` is a number with `ms`, `s`, `m`, `h` or `d`; without a unit it counts seconds. Relative paths on the command line',
  'and in variables are relative to the working directory, those in the file to its directory.',
  '',
]

const credentials: readonly string[] = [
  '## Credentials',
  '',
  "The root account's key comes from the first complete pair of:",
  '',
  ...credentialPairs.map(([id, secret]) => `- \`${id}\` and \`${secret}\``),
  '',
  `\`${awsCredentialPair.join('` and `')}\` count only with \`--root-from-aws-env\`, after those: a shell often holds a production key.`,
  'Half a pair, or a secret of fewer than 8 characters, is refused. With no pair set and no accounts in the file, a random key is made at',
  'the first start, printed once, and kept in `credentials.json` in the data directory (mode 0600). There are no default secrets, and no',
  'flag takes a secret, because command lines are visible to other users.',
  '',
]

const signals: readonly string[] = [
  '## Signals',
  '',
  '`SIGTERM` and `SIGINT` stop the server once the requests under way have ended. A second one stops it at once. `SIGHUP` makes the server read its configuration',
  'again: accounts, keys, permissions and certificates apply to new requests, and the log file is opened again. A wrong configuration is logged and changes nothing.',
  'Other settings wait for the next start. `SIGUSR1` does nothing: it opens no debugger.',
  '',
  'The log never holds up a request. Lines that cannot be written wait in memory, up to 1 MiB in each process. Further lines are dropped, and a later line says how many.',
  '',
]

const accounts: readonly string[] = [
  '## Accounts',
  '',
  'The file may define further accounts and keys. Buckets belong to an `id`: keep it when you change keys. The key from the environment or from the',
  'first start belongs to the account `main`.',
  '',
  '```toml',
  'listen = "127.0.0.1:9000"',
  'data = "./data"',
  'domains = ["s3.localhost"]',
  '',
  '[tls]',
  'cert = "/etc/holdfast/cert.pem"',
  'key = "/etc/holdfast/key.pem"',
  '',
  '[reclaim]',
  'grace = "1h"',
  '',
  '[[accounts]]',
  'id = "main"',
  'name = "Main"',
  'keys = [{ accessKeyId = "...", secretAccessKey = "..." }]',
  '```',
  '',
]

const issuers: readonly string[] = [
  '## Issuers of OpenID Connect',
  '',
  'Users whom an issuer signed in exchange its token for [temporary keys](access.md#temporary-keys). Name one issuer in a table, or several as `[[access.oidc]]`, each with',
  'a `name` of its own. They are read at startup.',
  '',
  '```toml',
  '[access.oidc]',
  'issuer = "https://id.example.com/realms/main"   # exactly as in its tokens; https, or http on this machine',
  'clientId = "holdfast"                           # the audience that tokens must be made for',
  'claim = "policy"                                # lists names of policies: an array, or text with commas; initially policy',
  'account = "main"                                # whose users they become; initially main',
  'name = "oidc"                                   # initially oidc: the user is arn:aws:iam::main:user/oidc/SUBJECT',
  'jwksUrl = "https://id.example.com/keys"         # initially what the discovery document of the issuer says',
  '```',
  '',
  'If an issuer has a certificate of your own authority, name its file in `NODE_EXTRA_CA_CERTS`.',
  '',
]

const webhooks: readonly string[] = [
  '## Webhooks',
  '',
  'Receivers of the [events of buckets](notifications.md), by name. They are read at startup.',
  '',
  '```toml',
  '[webhooks.thumbnails]                    # 1 to 64 letters, digits, _ or -',
  'url = "https://app.example.com/events"   # http or https, without credentials in it',
  'token = "..."                            # initially none; sent as a bearer token',
  '```',
  '',
  "MinIO's variables name webhooks, too: `MINIO_NOTIFY_WEBHOOK_ENABLE_NAME=on`, `MINIO_NOTIFY_WEBHOOK_ENDPOINT_NAME` and `MINIO_NOTIFY_WEBHOOK_AUTH_TOKEN_NAME`. They override the file. Names",
  'are case-insensitive.',
  '',
]

const sites: readonly string[] = [
  '## Sites',
  '',
  'Other servers to which [buckets are replicated](replication.md), by name. They are read at startup.',
  '',
  '```toml',
  '[sites.paris]                            # 1 to 64 letters, digits, _ or -; names are case-insensitive',
  'endpoint = "https://s3.paris.example.com"',
  'accessKeyId = "..."',
  'secretAccessKey = "..."',
  'region = "eu-west-3"                     # what requests are signed for; initially us-east-1',
  'accounts = ["main"]                      # whose buckets may be copied there with this key; "*" for all; initially main',
  '```',
  '',
  'If a site has a certificate of your own authority, name its file in `NODE_EXTRA_CA_CERTS`.',
  '',
]

const storesAndLocations: readonly string[] = [
  '## Stores and locations',
  '',
  "A bucket's data lies in its location: the one that CreateBucket names in `LocationConstraint`, else `defaultLocation`, initially `default`: one copy in the data directory.",
  'Other locations keep copies, or data and parity, in several stores. A store is a directory, such as the mount of a disk.',
  '',
  '```toml',
  'defaultLocation = "safe"   # for new buckets without a location; before all tables',
  '',
  '[stores.disk1]',
  'type = "directory"',
  'path = "/mnt/disk1"        # an empty directory at first use; relative to the file',
  'domain = "shelf1"          # what fails together; initially the name of the store',
  '',
  '[locations.safe]',
  'scheme = "replica"',
  'copies = 2',
  'stores = ["disk1", "disk2", "disk3"]',
  'maxPerDomain = 1           # at most this many copies in one domain; initially 1',
  'writeAck = 2               # durable copies that a write needs; initially more than half',
  '',
  '[locations.wide]',
  'scheme = "erasure"',
  'data = 2                   # pieces of each object, enough to read it',
  'parity = 1                 # pieces computed from them: as many may be lost',
  'stores = ["disk1", "disk2", "disk3"]',
  'writeAck = 3               # durable pieces that a write needs; initially data + 1',
  `replicateBelow = ${limits.smallShardBytesMax}    # bytes; smaller objects are kept as parity + 1 copies; this is the initial value`,
  '```',
  '',
  'A location can keep the objects of storage classes, whatever their bucket is: `storageClasses = ["STANDARD_IA", "GLACIER_IR"]`. [Lifecycle rules](lifecycle.md#moving-objects-to-other-stores) move objects there.',
  '',
  'Names are 1 to 63 of `a-z`, `0-9`, `.` and `-`; `default` is taken. No path may lie inside another, or inside the data directory.',
  '',
  "- The server knows a store by its identity. It leaves out a directory that is missing, empty or another store's, and uses the store again when it is back. It never",
  '  creates a new store instead. The server starts if each location has fewer stores out of use than copies, or no more than `parity`.',
  '- A write needs `writeAck` stores; with fewer, it is refused with 503. Repair makes missing copies and pieces once a store can take them. A small object in a location of',
  '  scheme `erasure` needs `writeAck` - `data` + 1 copies, which survive as many losses.',
  `- At most ${limits.dataShardsMax} pieces of data and ${limits.parityShardsMax} of parity. With 2 + 1 on three stores and the initial \`writeAck\`, each write needs all three stores. With a fourth store,`,
  '  or with `writeAck = 2`, writes go on without one.',
  '- `holdfast locations status` shows all of this. It begins with `OK`, `DEGRADED` or `AT RISK`, and exits with 0, 3 or 4. `holdfast locations replace STORE` replaces a lost store by a new',
  '  one in an empty directory. The running server then makes its shards; `holdfast repair` makes them at once. These commands work while the server runs.',
  '- You may change a location. New data follows the new definition. Older data stays where it is until `holdfast locations move BUCKET LOCATION` moves it, while clients use it. The',
  '  same command moves a bucket to another location. Run `holdfast locations plan` with the changed file first: it shows what is refused, what survives, what would be written, and whether',
  '  there is room. You cannot remove a location that has a bucket, or a store that holds data: the start is refused and names the bucket.',
  '- A store of type `memory` is refused: it would be empty after each start, while the metadata remembers its data.',
  '',
]

const storesElsewhere: readonly string[] = [
  '### Stores in a bucket elsewhere',
  '',
  'A store of type `s3` keeps its shards as objects of any S3-compatible endpoint, through the AWS SDK: `npm install @aws-sdk/client-s3`.',
  '',
  '```toml',
  '[stores.cloud]',
  'type = "s3"',
  'endpoint = "https://s3.eu-central-1.example.com"',
  'bucket = "shards"          # must exist; Holdfast creates none',
  'prefix = "holdfast"        # initially none: the whole bucket. Nothing else may lie there',
  'region = "eu-central-1"    # what requests are signed for; initially us-east-1',
  'pathStyle = true           # the bucket is named in the path, not in the host; initially true',
  'profile = "cloud"          # in the shared credentials file; initially what the environment says',
  'domain = "cloud"           # what fails together; initially the name of the store',
  '```',
  '',
  "- Credentials come from the SDK's standard chain: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, the shared files, the machine's role. They are no part of this file.",
  '  They are not a key of the server itself, unless `--root-from-aws-env` makes them one. `profile` gives each',
  '  store a key of its own; then leave the variables unset. A key must be allowed to get, put and delete objects, to list the bucket and its multipart uploads, and to abort them.',
  '- A store belongs to the server that made it. The server leaves out a bucket that is missing, empty or holds another store, and never creates a new store in it.',
  `- Each shard is one object, however small: a PUT writes it, a GET reads any part of it, a DELETE removes it. From ${remotePartMiB} MiB on, the PUT is a multipart upload. Providers charge for requests,`,
  '  and some for a minimum size or time, so small objects are better kept in a directory. Listing what is stored, which recovery of metadata does, costs a GET for each object. Each process',
  '  checks the store by a GET every five seconds. Background jobs list some of it every minute.',
  '- Turn versioning off for the bucket. No lifecycle rule may remove or archive anything under the prefix. A rule that aborts unfinished multipart uploads does no harm.',
  `- Data on its way to an endpoint lies in memory: at most ${remoteMemoryMiB} MiB in each process. Beyond that, writers wait, and get 503 SlowDown after ten seconds.`,
  '- The server leaves out an endpoint that does not answer for some seconds, and checks it every five. The location goes on with the other stores. `holdfast locations status` shows',
  '  how much of a bucket is used, as long as it holds no more than a hundred thousand shards.',
  '- If an endpoint has a certificate of your own authority, name its file in `NODE_EXTRA_CA_CERTS`.',
  '- Data there is as readable as on a disk, and on the way too if the endpoint is `http`. Encryption at rest hides it.',
]

function row({ flag, environment, toml, kind, initial, summary }: Option<unknown>): string {
  const cells = [
    flag === undefined ? '' : code(`--${flag} ${kind.placeholder}`.trim()) + (kind.repeatable ? ' (repeatable)' : ''),
    environment.map(code).join(', '),
    toml === undefined ? '' : code(toml),
    initial === undefined ? '' : initial.map(code).join(', '),
    summary,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function code(text: string): string {
  return `\`${text}\``
}
