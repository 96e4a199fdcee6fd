/** Which other servers of S3 the bench can start, given their program: on an empty directory, and asked to sync what they acknowledge. Starts nothing. */
import { join } from 'node:path'

/** Where a peer runs, and the key that may use it. */
export interface PeerPlace {
  directory: string
  /** Free ports, as many as the kind needs. It serves S3 on the first one. */
  ports: readonly number[]
  accessKeyId: string
  secretAccessKey: string
}

export interface Launch {
  words: readonly string[]
  environment?: Readonly<Record<string, string>>
  /** Files to write before the start: contents by path. */
  files?: Readonly<Record<string, string>>
}

/** Runs the peer's program while the server runs, and resolves with what it prints. */
export type RunBeside = (words: readonly string[], input?: string) => Promise<string>

export interface PeerKind {
  name: string
  /** Its name in the results. */
  title: string
  ports: number
  versionWords: readonly string[]
  durability: {
    /** How it is asked to be durable, in its own words. */
    asked: string
    /** Where its documentation says so. */
    source: string
  }
  launch(place: PeerPlace): Launch
  /** What must be done after the start, before it takes requests. Repeated until it succeeds. */
  prepare?(place: PeerPlace, run: RunBeside): Promise<void>
}

const host = '127.0.0.1'
const address = (port: number | undefined): string => `${host}:${port}`
const region = 'us-east-1'
const dataOf = ({ directory }: PeerPlace): string => join(directory, 'data')

const minio: PeerKind = {
  name: 'minio',
  title: 'MinIO',
  ports: 2,
  versionWords: ['--version'],
  durability: {
    asked: 'MINIO_FS_OSYNC=on',
    source: 'https://github.com/minio/minio/blob/master/internal/config/constants.go',
  },
  launch: (place) => ({
    words: [
      ...['server', '--quiet', '--address', address(place.ports[0]), '--console-address', address(place.ports[1])],
      dataOf(place),
    ],
    environment: {
      MINIO_ROOT_USER: place.accessKeyId,
      MINIO_ROOT_PASSWORD: place.secretAccessKey,
      MINIO_BROWSER: 'off',
      MINIO_UPDATE: 'off',
      MINIO_FS_OSYNC: 'on',
    },
  }),
}

const garageConfigurationOf = ({ directory }: PeerPlace): string => join(directory, 'garage.toml')

const garage: PeerKind = {
  name: 'garage',
  title: 'Garage',
  ports: 2,
  versionWords: ['--version'],
  durability: {
    asked: 'metadata_fsync = true, data_fsync = true',
    source: 'https://garagehq.deuxfleurs.fr/documentation/reference-manual/configuration/',
  },
  launch: (place) => ({
    words: ['-c', garageConfigurationOf(place), 'server'],
    files: {
      [garageConfigurationOf(place)]: [
        `metadata_dir = "${join(place.directory, 'meta')}"`,
        `data_dir = "${dataOf(place)}"`,
        'db_engine = "lmdb"',
        'metadata_fsync = true',
        'data_fsync = true',
        'replication_factor = 1',
        `rpc_bind_addr = "${address(place.ports[1])}"`,
        `rpc_public_addr = "${address(place.ports[1])}"`,
        `rpc_secret = "${place.secretAccessKey}"`,
        '[s3_api]',
        `api_bind_addr = "${address(place.ports[0])}"`,
        `s3_region = "${region}"`,
        '',
      ].join('\n'),
    },
    environment: { RUST_LOG: 'garage=warn' },
  }),
  async prepare(place, run) {
    const here = ['-c', garageConfigurationOf(place)]
    const [node = ''] = (await run([...here, 'node', 'id', '-q'])).split('@')
    const layout = await run([...here, 'layout', 'show'])
    if (!layout.includes('bench')) {
      await run([...here, 'layout', 'assign', '-z', 'bench', '-c', '100G', node])
      await run([...here, 'layout', 'apply', '--version', '1'])
    }
    const keys = await run([...here, 'key', 'list'])
    if (!keys.includes(place.accessKeyId))
      await run([...here, 'key', 'import', '--yes', '-n', 'bench', place.accessKeyId, place.secretAccessKey])
    await run([...here, 'key', 'allow', '--create-bucket', place.accessKeyId])
  },
}

const seaweedfsUsersOf = ({ directory }: PeerPlace): string => join(directory, 's3.json')

const seaweedfs: PeerKind = {
  name: 'seaweedfs',
  title: 'SeaweedFS',
  ports: 8,
  versionWords: ['version'],
  durability: {
    asked: 'fs.configure -locationPrefix=/buckets/ -fsync -apply',
    source: 'https://github.com/seaweedfs/seaweedfs/blob/master/weed/shell/command_fs_configure.go',
  },
  launch: (place) => {
    const services = ['s3', 'master', 'volume', 'filer']
    const actions = ['Admin', 'Read', 'Write', 'List', 'Tagging']
    const { accessKeyId: accessKey, secretAccessKey: secretKey } = place
    const identities = [{ name: 'bench', credentials: [{ accessKey, secretKey }], actions }]
    return {
      words: [
        ...['server', `-dir=${dataOf(place)}`, `-ip=${host}`, '-volume.max=64', '-filer', '-s3'],
        `-s3.config=${seaweedfsUsersOf(place)}`,
        ...services.map((service, at) => `-${service}.port=${place.ports[at]}`),
        ...services.map((service, at) => `-${service}.port.grpc=${place.ports[at + services.length]}`),
      ],
      files: { [seaweedfsUsersOf(place)]: JSON.stringify({ identities }) },
    }
  },
  async prepare({ ports: [, master, , filer, , masterGrpc, , filerGrpc] }, run) {
    const where = [`-master=${address(master)}.${masterGrpc}`, `-filer=${address(filer)}.${filerGrpc}`]
    const fsync = 'fs.configure -locationPrefix=/buckets/ -fsync -apply\n'
    const answer = await run(['shell', ...where], fsync)
    // The shell reports success even when its commands fail.
    if (!/"?fsync"?:\s*true/.test(answer)) throw new Error(`fs.configure was answered: ${answer}`)
  },
}

const versitygw: PeerKind = {
  name: 'versitygw',
  title: 'Versity',
  ports: 1,
  versionWords: ['--version'],
  durability: { asked: 'no such setting', source: 'https://github.com/versity/versitygw/wiki/Global-Options' },
  launch: (place) => ({
    words: ['--port', address(place.ports[0]), '--region', region, 'posix', dataOf(place)],
    environment: { ROOT_ACCESS_KEY: place.accessKeyId, ROOT_SECRET_KEY: place.secretAccessKey },
  }),
}

const rustfs: PeerKind = {
  name: 'rustfs',
  title: 'RustFS',
  ports: 1,
  versionWords: ['--version'],
  durability: {
    asked: 'RUSTFS_DURABILITY_MODE=strict',
    source: 'https://github.com/rustfs/rustfs/pull/4397',
  },
  launch: (place) => ({
    words: [],
    environment: {
      RUSTFS_ADDRESS: address(place.ports[0]),
      RUSTFS_VOLUMES: dataOf(place),
      RUSTFS_ACCESS_KEY: place.accessKeyId,
      RUSTFS_SECRET_KEY: place.secretAccessKey,
      RUSTFS_REGION: region,
      RUSTFS_CONSOLE_ENABLE: 'false',
      RUSTFS_DURABILITY_MODE: 'strict',
      RUSTFS_NEW_BUCKET_DURABILITY_MODE: 'strict',
      RUSTFS_UNSAFE_BYPASS_DISK_CHECK: 'true',
    },
  }),
}

/** Another release of this server. */
const holdfast: PeerKind = {
  name: 'holdfast',
  title: 'holdfast, the other build',
  ports: 1,
  versionWords: ['--version'],
  durability: { asked: 'nothing: it always syncs', source: '../durability.md' },
  launch: (place) => ({
    words: ['serve', '--data', dataOf(place), '--listen', address(place.ports[0]), '--admin-listen', 'off'],
    environment: {
      HOLDFAST_ACCESS_KEY_ID: place.accessKeyId,
      HOLDFAST_SECRET_ACCESS_KEY: place.secretAccessKey,
    },
  }),
}

export const peerKinds: readonly PeerKind[] = [minio, garage, seaweedfs, versitygw, rustfs, holdfast]
