import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { usageOf } from '../../src/cli/usage.ts'
import { describeInstalled } from '../support/installed.ts'

const page = fileURLToPath(new URL('../../packaging/man/holdfast.1', import.meta.url))

describeInstalled('mandoc', [['sh', '-c', 'command -v mandoc']], () => {
  test('has nothing to warn of in the manual page', () => {
    expect(execFileSync('mandoc', ['-T', 'lint', '-W', 'warning', page], { encoding: 'utf8' })).toBe('')
  })

  test('shows every command and every flag', () => {
    // The terminal form prints each bold letter twice.
    const overstrike = new RegExp(`.${String.fromCharCode(8)}`, 'g')
    const words = ['-T', 'utf8', '-O', 'width=200', page]
    const shown = execFileSync('mandoc', words, { encoding: 'utf8' }).replaceAll(overstrike, '')
    for (const { name, flags } of usageOf(commands)) {
      const [, section = ''] = shown.split(new RegExp(`^   ${name}$`, 'm'))
      expect(section, name).not.toBe('')
      for (const { names } of flags)
        for (const flag of names) expect(section).toMatch(new RegExp(`^ .*${flag}\\b`, 'm'))
    }
  })
})
