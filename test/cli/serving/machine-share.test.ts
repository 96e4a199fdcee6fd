import { expect, it } from 'vitest'
import { machineShare } from '../../../src/cli/serving/machine-share.ts'
import { workerCount } from '../../../src/cli/serving/worker-count.ts'

const GiB = 1024 ** 3
const host = { cores: 16, memoryBytes: 64 * GiB }
const unlimited = '9223372036854771712\n'

/** The files in `/sys/fs/cgroup`, and the share of the host that they leave. */
const rows: [what: string, listed: string | undefined, files: Record<string, string>, expected: object][] = [
  ['no control groups: all of it', undefined, {}, host],
  ['a group without limits: all of it', '0::/\n', { 'cpu.max': 'max 100000\n', 'memory.max': 'max\n' }, host],
  ['a container, which is the root', '0::/\n', { 'cpu.max': '200000 100000\n' }, { ...host, cores: 2 }],
  ['a part of a core', '0::/\n', { 'cpu.max': '25000 50000\n' }, { ...host, cores: 0.5 }],
  ['memory of a container', '0::/\n', { 'memory.max': `${GiB}\n` }, { ...host, memoryBytes: GiB }],
  [
    'a unit of systemd',
    '0::/system.slice/a.service\n',
    { 'system.slice/a.service/cpu.max': '150000 100000' },
    { cores: 1.5 },
  ],
  [
    'a slice around the unit that allows less than the unit',
    '0::/system.slice/a.service\n',
    {
      'system.slice/a.service/cpu.max': '400000 100000',
      'system.slice/cpu.max': '300000 100000',
      'system.slice/a.service/memory.max': `${4 * GiB}`,
      'system.slice/memory.max': `${2 * GiB}`,
    },
    { cores: 3, memoryBytes: 2 * GiB },
  ],
  ['the root around them', '0::/a/b\n', { 'cpu.max': '100000 100000' }, { cores: 1 }],
  ['a path from outside the container', '0::/docker/1f\n', { 'cpu.max': '200000 100000' }, { cores: 2 }],
  ['a path above the root', '0::/../../x\n', { 'x/cpu.max': '200000 100000' }, { cores: 2 }],
  ['more than there is', '0::/\n', { 'cpu.max': '6400000 100000', 'memory.max': `${128 * GiB}` }, host],
  [
    'version 1',
    '5:memory:/a\n4:cpu,cpuacct:/a\n0::/a\n',
    {
      'cpu,cpuacct/a/cpu.cfs_quota_us': '250000\n',
      'cpu,cpuacct/a/cpu.cfs_period_us': '100000\n',
      'memory/a/memory.limit_in_bytes': `${3 * GiB}\n`,
    },
    { cores: 2.5, memoryBytes: 3 * GiB },
  ],
  [
    'version 1, with a tree for each controller, and a group around this one',
    '4:cpuacct,cpu:/a/b\n',
    { 'cpu/a/cpu.cfs_quota_us': '400000', 'cpu/a/cpu.cfs_period_us': '100000' },
    { cores: 4 },
  ],
  [
    'version 1 without limits',
    '2:cpu:/\n1:memory:/\n',
    { 'cpu/cpu.cfs_quota_us': '-1', 'cpu/cpu.cfs_period_us': '100000', 'memory/memory.limit_in_bytes': unlimited },
    host,
  ],
  ['files of another group', '0::/a\n', { 'b/cpu.max': '100000 100000' }, host],
  ['files that say nothing', 'x\n0::/\n', { 'cpu.max': '\n', 'memory.max': 'much' }, host],
]

it.each(rows)('%s', (_what, listed, files, expected) => {
  const read = (path: string): string | undefined =>
    path === '/proc/self/cgroup' ? listed : files[path.replace('/sys/fs/cgroup/', '')]
  expect(machineShare(host, read)).toMatchObject(expected)
})

const MiB = 1024 ** 2

it.each([
  ['one core, one process', { cores: 1, memoryBytes: 4 * GiB }, 1, 'of 1 core'],
  ['each core', { cores: 4, memoryBytes: 4 * GiB }, 4, 'of 4 cores'],
  ['at most eight', { cores: 64, memoryBytes: 64 * GiB }, 8, 'of 64 cores'],
  ['whole cores', { cores: 2.999, memoryBytes: 4 * GiB }, 2, 'of 2.99 cores'],
  ['half a core', { cores: 0.5, memoryBytes: 4 * GiB }, 1, 'of 0.5 cores'],
  ['just enough memory', { cores: 4, memoryBytes: GiB }, 4, 'of 4 cores'],
  ['too little memory', { cores: 4, memoryBytes: GiB - 1 }, 1, 'of 1023 MiB of memory; several begin at 1024 MiB'],
  ['little memory', { cores: 1, memoryBytes: 512 * MiB }, 1, 'of 512 MiB of memory; several begin at 1024 MiB'],
])('auto: %s', (_what, share, workers, reason) => {
  expect(workerCount('auto', () => share)).toEqual({ workers, reason })
})

it('a configured number counts, whatever the machine is', () => {
  const share = () => ({ cores: 0.1, memoryBytes: 1 })
  expect(workerCount(16, share)).toEqual({ workers: 16 })
})
