/** A Ceph cluster of one monitor, manager, OSD and gateway, in a directory of its own, its data in memory. Nothing of it outlives the process that starts it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const runFile = promisify(execFile)

/** Each succeeds where a cluster can be started. `setpriv` ends the daemons when their parent is killed. */
export const cephProbes = [
  ...['ceph', 'ceph-mon', 'ceph-mgr', 'ceph-osd', 'radosgw', 'radosgw-admin', 'setpriv'].map((name) => [
    name,
    '--version',
  ]),
  ['monmaptool', '--help'],
]

const startMs = 120_000
const commandMs = 60_000
/** Below the ports that systems give to clients. */
const ports = { first: 12_000, count: 5_000 }

interface Daemon {
  name: string
  child: ChildProcess
}

export class CephCluster {
  readonly endpoint: string
  readonly #directory: string
  readonly #daemons: Daemon[] = []

  private constructor(directory: string, gatewayPort: number) {
    this.#directory = directory
    this.endpoint = `http://127.0.0.1:${gatewayPort}`
  }

  /** With a user who has the key. Rejects within two minutes. */
  static async start(key: { accessKeyId: string; secretAccessKey: string }): Promise<CephCluster> {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-ceph-'))
    const [monitorPort, gatewayPort] = freshPorts()
    const cluster = new CephCluster(directory, gatewayPort)
    try {
      await cluster.#begin(monitorPort, gatewayPort)
      const words = ['--access-key', key.accessKeyId, '--secret-key', key.secretAccessKey]
      await cluster.administer('user', 'create', '--uid', 'tests', '--display-name', 'Tests', ...words)
      return cluster
    } catch (error) {
      const logs = await cluster.#lastWords()
      await cluster.remove()
      throw new Error(`Ceph did not start: ${logs}`, { cause: error })
    }
  }

  /** Runs `radosgw-admin`. */
  administer(...words: string[]): Promise<string> {
    return this.#run('radosgw-admin', '-n', 'client.rgw', ...words)
  }

  async remove(): Promise<void> {
    await Promise.all(
      this.#daemons.splice(0).map(async ({ child }) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        child.kill('SIGKILL')
        await once(child, 'exit')
      }),
    )
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 20 })
  }

  async #begin(monitorPort: number, gatewayPort: number): Promise<void> {
    const path = (name: string): string => join(this.#directory, name)
    for (const name of ['mon', 'mgr', 'osd', 'run', 'modules']) await mkdir(path(name))
    // The monitor takes the keys of all daemons from here, and each daemon finds its own.
    await writeFile(path('keyring'), keyring())
    await chmod(path('keyring'), 0o600)
    const fsid = randomUUID()
    await writeFile(path('ceph.conf'), configuration(this.#directory, fsid, monitorPort, gatewayPort))
    const address = `[v2:127.0.0.1:${monitorPort}/0]`
    await this.#run('monmaptool', '--create', '--addv', 'a', address, '--fsid', fsid, path('monmap'))
    await this.#run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', path('monmap'), '--keyring', path('keyring'))
    this.#spawn('ceph-mon', '-i', 'a')
    this.#spawn('ceph-mgr', '-i', 'x')
    const osd = randomUUID()
    await this.#run('ceph', '--connect-timeout', '60', 'osd', 'new', osd)
    await this.#run('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', osd)
    this.#spawn('ceph-osd', '-i', '0')
    this.#spawn('radosgw', '-n', 'client.rgw')
    await this.#answers()
  }

  #spawn(name: string, ...words: string[]): void {
    const command = ['--pdeathsig', 'KILL', name, '-f', '-c', join(this.#directory, 'ceph.conf'), ...words]
    this.#daemons.push({ name, child: spawn('setpriv', command, { cwd: this.#directory, stdio: 'ignore' }) })
  }

  async #run(name: string, ...words: string[]): Promise<string> {
    const command = [...words, '-c', join(this.#directory, 'ceph.conf')]
    const { stdout } = await runFile(name, command, { cwd: this.#directory, timeout: commandMs, killSignal: 'SIGKILL' })
    return stdout
  }

  async #answers(): Promise<void> {
    const deadline = performance.now() + startMs
    while (performance.now() < deadline) {
      const ended = this.#daemons.find(({ child }) => child.exitCode !== null || child.signalCode !== null)
      if (ended !== undefined) throw new Error(`${ended.name} ended with ${ended.child.exitCode}`)
      const answer = await fetch(this.endpoint).catch(() => undefined)
      await answer?.arrayBuffer()
      if (answer !== undefined) return
      await delay(50)
    }
    throw new Error('the gateway does not answer')
  }

  async #lastWords(): Promise<string> {
    const names = ['mon.a', 'mgr.x', 'osd.0', 'client.rgw']
    const logs = await Promise.all(
      names.map((name) => readFile(join(this.#directory, `${name}.log`), 'utf8').catch(() => '')),
    )
    return logs.map((log, index) => `${names[index]}: ${log.slice(-1000)}`).join('\n')
  }
}

function freshPorts(): [number, number] {
  const port = ports.first + 2 * randomInt(ports.count / 2)
  return [port, port + 1]
}

function keyring(): string {
  const everything = ['mon = "allow *"', 'osd = "allow *"', 'mgr = "allow *"']
  const entities = {
    'mon.': ['mon = "allow *"'],
    'client.admin': everything,
    'client.rgw': everything,
    'osd.0': ['mon = "allow profile osd"', 'osd = "allow *"', 'mgr = "allow profile osd"'],
    'mgr.x': ['mon = "allow profile mgr"', 'osd = "allow *"'],
  }
  const sections = Object.entries(entities).map(([name, capabilities]) => {
    // Type, time, length, then an AES key.
    const head = Buffer.alloc(12)
    head.writeUInt16LE(1)
    head.writeUInt16LE(16, 10)
    const key = Buffer.concat([head, randomBytes(16)]).toString('base64')
    return `[${name}]\n\tkey = ${key}\n${capabilities.map((one) => `\tcaps ${one}\n`).join('')}`
  })
  return sections.join('')
}

/** One copy of everything, in memory. Changes of the cluster are not gathered for a second, as they would be: that is most of a start. */
function configuration(directory: string, fsid: string, monitorPort: number, gatewayPort: number): string {
  return `[global]
fsid = ${fsid}
mon host = [v2:127.0.0.1:${monitorPort}/0]
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
keyring = ${directory}/keyring
run dir = ${directory}/run
admin socket = ${directory}/run/$name.asok
pid file =
log file = ${directory}/$name.log
mon cluster log file = ${directory}/cluster.log
log to stderr = false
paxos propose interval = 0.05
mon data avail crit = 0
mon data avail warn = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
mon allow pool size one = true
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 4294967296
rgw bucket quota ttl = 0
rgw frontends = beast endpoint=127.0.0.1:${gatewayPort}
[mon.a]
mon data = ${directory}/mon
[mgr.x]
mgr data = ${directory}/mgr
mgr module path = ${directory}/modules
[osd.0]
osd data = ${directory}/osd
`
}
