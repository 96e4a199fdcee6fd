/** Limits the CPU that a process may use, by a control group of Linux: version 2, or the `cpu` hierarchy of version 1. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { treeOf } from './process-tree.ts'

const root = '/sys/fs/cgroup'
const periodUs = 100_000

/** Puts the process and all its children into a control group. The returned function removes the group after they have ended. `undefined`: the machine does not allow it. */
export function holdCpu(pid: number, cores: number): (() => void) | undefined {
  const name = `holdfast-bench-${pid}`
  const quotaUs = Math.round(cores * periodUs)
  try {
    const group = existsSync(join(root, 'cgroup.controllers')) ? groupV2(name, quotaUs) : groupV1(name, quotaUs)
    for (const each of treeOf(pid)) writeFileSync(join(group, 'cgroup.procs'), String(each))
    return () => {
      try {
        rmdirSync(group)
      } catch {
        // A process is still ending. An empty group that stays does no harm.
      }
    }
  } catch {
    return undefined
  }
}

function groupV2(name: string, quotaUs: number): string {
  if (!readFileSync(join(root, 'cgroup.subtree_control'), 'utf8').split(/\s/).includes('cpu'))
    writeFileSync(join(root, 'cgroup.subtree_control'), '+cpu')
  const group = join(root, name)
  mkdirSync(group)
  writeFileSync(join(group, 'cpu.max'), `${quotaUs} ${periodUs}`)
  return group
}

function groupV1(name: string, quotaUs: number): string {
  const group = join(root, 'cpu', name)
  mkdirSync(group)
  writeFileSync(join(group, 'cpu.cfs_period_us'), String(periodUs))
  writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quotaUs))
  return group
}
