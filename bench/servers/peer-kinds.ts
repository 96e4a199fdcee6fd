/** Which other servers of S3 the bench can start, given their program: on an empty directory, and asked to sync what they acknowledge. Starts nothing. */
import { join } from 'node:path'

/** Where a peer runs, and the key that may use it. */
export interface PeerSetup {
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
  launch(setup: PeerSetup): Launch
  /** What must be done after the start, before it takes requests. Repeated until it succeeds. */
  prepare?(setup: PeerSetup, run: RunBeside): Promise<void>
}

const host = '127.0.0.1'
const address = (port: number | undefined): string => `${host}:${port}`
const region = 'us-east-1'
const dataOf = ({ directory }: PeerSetup): string => join(directory, 'data')

const minio: PeerKind = {
  name: 'minio',
  title: 'MinIO',
  ports: 2,
  versionWords: ['--version'],
  durability: {
    asked: 'MINIO_FS_OSYNC=on',
    source: 'https://github.com/minio/minio/blob/master/internal/config/constants.go',
  },
  launch: (setup) => ({
    words: [
      ...['server', '--quiet', '--address', address(setup.ports[0]), '--console-address', address(setup.ports[1])],
      dataOf(setup),
    ],
    environment: {
      MINIO_ROOT_USER: setup.accessKeyId,
      MINIO_ROOT_PASSWORD: setup.secretAccessKey,
      MINIO_BROWSER: 'off',
      MINIO_UPDATE: 'off',
      MINIO_FS_OSYNC: 'on',
    },
  }),
}

const garageConfigurationOf = ({ directory }: PeerSetup): string => join(directory, 'garage.toml')

const garage: PeerKind = {
  name: 'garage',
  title: 'Garage',
  ports: 2,
  versionWords: ['--version'],
  durability: {
    asked: 'metadata_fsync = true, data_fsync = true',
    source: 'https://garagehq.deuxfleurs.fr/documentation/reference-manual/configuration/',
  },
  launch: (setup) => ({
    words: ['-c', garageConfigurationOf(setup), 'server'],
    files: {
      [garageConfigurationOf(setup)]: [
        `metadata_dir = "${join(setup.directory, 'meta')}"`,
        `data_dir = "${dataOf(setup)}"`,
        'db_engine = "lmdb"',
        'metadata_fsync = true',
        'data_fsync = true',
        'replication_factor = 1',
        `rpc_bind_addr = "${address(setup.ports[1])}"`,
        `rpc_public_addr = "${address(setup.ports[1])}"`,
        `rpc_secret = "${setup.secretAccessKey}"`,
        '[s3_api]',
        `api_bind_addr = "${address(setup.ports[0])}"`,
        `s3_region = "${region}"`,
        '',
      ].join('\n'),
    },
    environment: { RUST_LOG: 'garage=warn' },
  }),
  async prepare(setup, run) {
    const here = ['-c', garageConfigurationOf(setup)]
    const [node = ''] = (await run([...here, 'node', 'id', '-q'])).split('@')
    const layout = await run([...here, 'layout', 'show'])
    if (!layout.includes('bench')) {
      await run([...here, 'layout', 'assign', '-z', 'bench', '-c', '100G', node])
      await run([...here, 'layout', 'apply', '--version', '1'])
    }
    const keys = await run([...here, 'key', 'list'])
    if (!keys.includes(setup.accessKeyId))
      await run([...here, 'key', 'import', '--yes', '-n', 'bench', setup.accessKeyId, setup.secretAccessKey])
    await run([...here, 'key', 'allow', '--create-bucket', setup.accessKeyId])
  },
}

const seaweedfsUsersOf = ({ directory }: PeerSetup): string => join(directory, 's3.json')

const seaweedfs: PeerKind = {
  name: 'seaweedfs',
  title: 'SeaweedFS',
  ports: 8,
  versionWords: ['version'],
  durability: {
    asked: 'fs.configure -locationPrefix=/buckets/ -fsync -apply',
    source: 'https://github.com/seaweedfs/seaweedfs/blob/master/weed/shell/command_fs_configure.go',
  },
  launch: (setup) => {
    const services = ['s3', 'master', 'volume', 'filer']
    const actions = ['Admin', 'Read', 'Write', 'List', 'Tagging']
    const { accessKeyId: accessKey, secretAccessKey: secretKey } = setup
    const identities = [{ name: 'bench', credentials: [{ accessKey, secretKey }], actions }]
    return {
      words: [
        ...['server', `-dir=${dataOf(setup)}`, `-ip=${host}`, '-volume.max=64', '-filer', '-s3'],
        `-s3.config=${seaweedfsUsersOf(setup)}`,
        ...services.map((service, at) => `-${service}.port=${setup.ports[at]}`),
        ...services.map((service, at) => `-${service}.port.grpc=${setup.ports[at + services.length]}`),
      ],
      files: { [seaweedfsUsersOf(setup)]: JSON.stringify({ identities }) },
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
  launch: (setup) => ({
    words: ['--port', address(setup.ports[0]), '--region', region, 'posix', dataOf(setup)],
    environment: { ROOT_ACCESS_KEY: setup.accessKeyId, ROOT_SECRET_KEY: setup.secretAccessKey },
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
  launch: (setup) => ({
    words: [],
    environment: {
      RUSTFS_ADDRESS: address(setup.ports[0]),
      RUSTFS_VOLUMES: dataOf(setup),
      RUSTFS_ACCESS_KEY: setup.accessKeyId,
      RUSTFS_SECRET_KEY: setup.secretAccessKey,
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
  launch: (setup) => ({
    words: ['serve', '--data', dataOf(setup), '--listen', address(setup.ports[0]), '--admin-listen', 'off'],
    environment: {
      HOLDFAST_ACCESS_KEY_ID: setup.accessKeyId,
      HOLDFAST_SECRET_ACCESS_KEY: setup.secretAccessKey,
    },
  }),
}

export const peerKinds: readonly PeerKind[] = [minio, garage, seaweedfs, versitygw, rustfs, holdfast]
