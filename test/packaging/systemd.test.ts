/** The files for systemd, judged by systemd's own programs. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeInstalled } from '../support/installed.ts'

const folder = fileURLToPath(new URL('../../packaging/systemd/', import.meta.url))
const unit = join(folder, 'holdfast.service')
const run = promisify(execFile)

/** 0 is all closed, 100 is all open. */
const exposureMax = 15

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-systemd-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

describeInstalled('systemd', [['systemd-analyze', '--version']], () => {
  test('takes every line of the unit', async () => {
    const { stderr } = await run('systemd-analyze', ['verify', '--man=no', unit])
    expect(stderr).not.toContain('holdfast.service')
  })

  test(`rates the exposure of the unit below ${exposureMax / 10} of 10`, async () => {
    const words = ['security', '--offline=yes', `--threshold=${exposureMax}`, '--no-pager', unit]
    const { stdout } = await run('systemd-analyze', words)
    expect(stdout).toContain('Overall exposure level')
  })

  test('makes the user, and the directory of the configuration that only it and root read', async () => {
    await mkdir(join(root, 'etc'))
    await mkdir(join(root, 'usr/lib/sysusers.d'), { recursive: true })
    await mkdir(join(root, 'usr/lib/tmpfiles.d'), { recursive: true })
    await cp(join(folder, 'holdfast.sysusers.conf'), join(root, 'usr/lib/sysusers.d/holdfast.conf'))
    await cp(join(folder, 'holdfast.tmpfiles.conf'), join(root, 'usr/lib/tmpfiles.d/holdfast.conf'))
    await writeFile(join(root, 'etc/group'), 'root:x:0:\n')
    await run('systemd-sysusers', [`--root=${root}`])
    await run('systemd-tmpfiles', [`--root=${root}`, '--create'])

    const [, , uid, gid, , home] =
      (await readFile(join(root, 'etc/passwd'), 'utf8'))
        .split('\n')
        .map((line) => line.split(':'))
        .find(([name]) => name === 'holdfast') ?? []
    expect(home).toBe('/var/lib/holdfast')
    expect(Number(uid)).toBeGreaterThan(0)
    const made = await stat(join(root, 'etc/holdfast'))
    expect({ mode: made.mode & 0o777, uid: made.uid, gid: made.gid }).toEqual({ mode: 0o750, uid: 0, gid: Number(gid) })
  })
})

test('the unit waits for what the server says, and has its messages come from a child', async () => {
  const lines = (await readFile(unit, 'utf8')).split('\n')
  for (const line of ['Type=notify', 'NotifyAccess=all', 'ExecReload=/bin/kill -HUP $MAINPID'])
    expect(lines).toContain(line)
})
