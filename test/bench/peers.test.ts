import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PeersResults } from '../../bench/results.ts'
import { type PeerKind, type PeerSetup, peerKinds } from '../../bench/servers/peer-kinds.ts'
import { callsOf } from '../../bench/syncs.ts'
import { describeInstalled } from '../support/installed.ts'

const runProgram = promisify(execFile)
const main = fileURLToPath(new URL('../../dist/bench/main.js', import.meta.url))
const server = fileURLToPath(new URL('../../dist/joined/main.js', import.meta.url))

const place: PeerSetup = {
  directory: '/peer',
  ports: [41, 42, 43, 44, 45, 46, 47, 48],
  accessKeyId: 'GKkey',
  secretAccessKey: 'secret',
}

function kindNamed(name: string): PeerKind {
  const kind = peerKinds.find((known) => known.name === name)
  if (kind === undefined) throw new RangeError(`no kind ${name}`)
  return kind
}

/** All that a peer is told when it starts. */
function toldTo(name: string): string {
  const { words, environment = {}, files = {} } = kindNamed(name).launch(place)
  const variables = Object.entries(environment).map(([variable, value]) => `${variable}=${value}`)
  return [...words, ...variables, ...Object.values(files)].join('\n')
}

describe('a peer that the bench starts', () => {
  it.each(peerKinds.map(({ name }) => [name]))('%s serves S3 on this machine alone, from its own directory', (name) => {
    const told = toldTo(name)
    expect(told).toMatch(/127\.0\.0\.1:41|-s3\.port=41/)
    expect(told).not.toMatch(/0\.0\.0\.0|(^|[ =])":\d/m)
    expect(told).toContain('/peer/data')
  })

  it.each([
    ['minio', ['MINIO_FS_OSYNC=on']],
    ['garage', ['metadata_fsync = true', 'data_fsync = true']],
    ['rustfs', ['RUSTFS_DURABILITY_MODE=strict']],
  ])('%s is told to sync, as its row says', (name, settings) => {
    const { asked } = kindNamed(name).durability
    for (const setting of settings) {
      expect(toldTo(name).split('\n')).toContain(setting)
      expect(asked).toContain(setting)
    }
  })

  it('SeaweedFS is told to sync by its shell, and does not count as ready before it says that it does', async () => {
    const asked: string[] = []
    const run = (answer: string) => async (words: readonly string[], input?: string) => {
      asked.push([...words, input].join(' '))
      return answer
    }
    const { prepare } = kindNamed('seaweedfs')
    await expect(prepare?.(place, run('error: no filer'))).rejects.toThrow('no filer')
    await prepare?.(place, run('{"locations": [{"locationPrefix": "/buckets/", "fsync": true}]}'))
    const line =
      'shell -master=127.0.0.1:42.46 -filer=127.0.0.1:44.48 fs.configure -locationPrefix=/buckets/ -fsync -apply\n'
    expect(asked).toEqual([line, line])
  })

  it('Garage gets a layout and a key once, however often it is asked', async () => {
    const done: string[] = []
    const state = { layout: '', keys: '' }
    const run = async ([, , topic = '', verb = '', ...rest]: readonly string[]): Promise<string> => {
      done.push(`${topic} ${verb}`)
      if (topic === 'node') return 'abcd@127.0.0.1:42\n'
      if (verb === 'assign') state.layout = rest.join(' ')
      if (verb === 'import') state.keys = rest.join(' ')
      return topic === 'layout' ? state.layout : state.keys
    }
    const { prepare } = kindNamed('garage')
    await prepare?.(place, run)
    await prepare?.(place, run)
    expect(state).toEqual({ layout: '-z bench -c 100G abcd', keys: '--yes -n bench GKkey secret' })
    expect(done.filter((each) => /assign|import/.test(each))).toEqual(['layout assign', 'key import'])
  })
})

it('calls that sync are counted once each, also when another thread interrupts what strace writes', () => {
  const trace = [
    '12 openat(AT_FDCWD, "/d/a", O_RDWR|O_CREAT|O_DSYNC, 0600) = 7',
    '12 openat(AT_FDCWD, "/d/O_SYNC notes", O_RDONLY) = 8',
    '12 fdatasync(7 <unfinished ...>',
    '13 fsync(8) = 0',
    '12 <... fdatasync resumed>) = 0',
    '13 fdatasync(9) = 0',
    '',
  ].join('\n')
  expect(callsOf(trace)).toEqual([
    { call: 'fdatasync', count: 2 },
    { call: 'open with O_SYNC', count: 1 },
    { call: 'fsync', count: 1 },
  ])
})

describeInstalled('a short run of the bench beside another build', [['strace', '--version']], () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-test-'))
  const dataParent = join(directory, 'data')
  let results: PeersResults
  beforeAll(async () => {
    const json = join(directory, 'results.json')
    const places = ['--dir', dataParent, '--json', json, '--docs', join(directory, 'docs')]
    const words = ['peers', '--quick', '--seconds', '0.2', '--rounds', '2', '--only', 'put-4k,list']
    await runProgram(process.execPath, [main, ...words, '--peer', `holdfast=${server}`, ...places])
    results = JSON.parse(readFileSync(json, 'utf8'))
  }, 300_000)
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const names = ['holdfast', 'holdfast, 2 workers', 'holdfast, the other build']

  it('measures each, in every round', () => {
    expect(results.work.map(({ workload }) => workload.name)).toEqual(['put-4k', 'list'])
    for (const { measurements } of results.work) {
      expect(measurements.map((each) => each.server)).toEqual(names)
      for (const { rounds } of measurements) expect(rounds.map(({ requests }) => requests > 0)).toEqual([true, true])
    }
  })

  it('counts what each syncs for a PUT, and asks the other for its version', () => {
    expect(results.facts.map(({ name }) => name)).toEqual(names)
    for (const { version, syncs = [] } of results.facts) {
      expect(version).toMatch(/\d+\.\d+\.\d+/)
      expect(syncs.reduce((sum, { aRequest }) => sum + aRequest, 0)).toBeGreaterThanOrEqual(1)
    }
  })

  it('writes the page, and leaves no data behind', () => {
    const page = readFileSync(join(directory, 'docs/benchmarks/peers.md'), 'utf8')
    expect(page).toMatch(/\| holdfast, the other build \| .*\d+\.\d+ fdatasync/)
    expect(page).toMatch(/## holdfast over each: rate\n\n.*holdfast, the other build/)
    expect(readFileSync(join(directory, 'docs/benchmarks.md'), 'utf8')).toContain('benchmarks/peers.md')
    expect(readdirSync(dataParent)).toEqual([])
  })
})

it('a peer that ends at its start is shown with what it said', async () => {
  const dataParent = mkdtempSync(join(tmpdir(), 'holdfast-bench-test-'))
  const words = ['peers', '--quick', '--only', 'list', '--dir', dataParent, '--peer', 'versitygw=/bin/cat']
  try {
    const stderr = expect.stringMatching(/did not become ready.*cat: /s)
    await expect(runProgram(process.execPath, [main, ...words])).rejects.toMatchObject({ code: 1, stderr })
  } finally {
    rmSync(dataParent, { recursive: true })
  }
}, 120_000)
