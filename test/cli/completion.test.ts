/** The completion scripts, each run in its own shell. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { usageOf } from '../../src/cli/usage.ts'
import { describeInstalled } from '../support/installed.ts'
import { run } from './holdfast-process.ts'

let directory: string
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-completion-'))
  for (const name of ['holdfast.toml', 'with space.toml']) writeFileSync(join(directory, name), '')
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await run(['completion', shell]).ended
    expect(code).toBe(0)
    writeFileSync(join(directory, `script.${shell}`), stdout)
  }
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const ask = (program: string, ...words: string[]): string[] =>
  execFileSync(program, words, { cwd: directory, encoding: 'utf8' }).split('\n').filter(Boolean)

/** The words up to the cursor, what must be among the completions, and what must not. */
const rows: [string, string[], string[]][] = [
  ['holdfast lo', ['locations'], ['serve']],
  ['holdfast serve --log-', ['--log-level', '--log-file'], ['--data']],
  ['holdfast serve --log-level d', ['debug'], ['info']],
  ['holdfast serve --config hold', ['holdfast.toml'], ['script.bash']],
  ['holdfast serve --sigv2 pre', ['presigned'], ['all']],
  ['holdfast server --certs', ['--certs-dir'], ['--data']],
  ['holdfast locations re', ['replace'], ['status']],
  ['holdfast users attach', ['attach'], ['list']],
  ['holdfast restore hold', ['holdfast.toml'], []],
  ['holdfast completion f', ['fish'], ['bash']],
  ['holdfast --admin', ['--admin-listen'], ['--data']],
]

const bashProgram = `source script.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`

describeInstalled('bash', [['bash', '--version']], () => {
  const complete = (line: string, raw: readonly string[] = line.split(' ')): string[] =>
    ask('bash', '--norc', '-c', bashProgram, 'bash', ...raw)

  test.each(rows)('completes %j', (line, some, none) => {
    const found = complete(line)
    expect(found).toEqual(expect.arrayContaining(some))
    for (const word of none) expect(found).not.toContain(word)
  })

  test('completes a value after an equals sign, and names with spaces', () => {
    expect(complete('', ['holdfast', 'serve', '--log-level', '=', 'd'])).toEqual(['debug'])
    expect(complete('', ['holdfast', 'serve', '--log-level', '='])).toContain('silent')
    expect(complete('', ['holdfast', 'serve', '--config', 'with'])).toEqual(['with space.toml'])
  })

  test('offers every command and every flag of the table', () => {
    for (const { name, flags } of usageOf(commands)) {
      expect(complete(`holdfast ${name}`)).toContain(name)
      expect(complete(`holdfast ${name} -`)).toEqual(flags.flatMap(({ names }) => names))
    }
  })
})

describeInstalled('fish', [['fish', '--version']], () => {
  const complete = (line: string): string[] =>
    ask('fish', '--no-config', '-c', `source script.fish; complete -C ${JSON.stringify(line)}`).map(
      (found) => found.split('\t')[0] ?? '',
    )

  test.each(rows)('completes %j', (line, some, none) => {
    const found = complete(line)
    expect(found).toEqual(expect.arrayContaining(some))
    for (const word of none) expect(found).not.toContain(word)
  })
})

/** Types a line into an interactive zsh, asks for completion, and reads the line and the list below it. */
const zshProgram = `
zmodload zsh/zpty
zpty shell zsh --no-rcs --interactive
zpty -w shell "PS1=; autoload -Uz compinit; compinit -u -d $PWD/dump; source ./script.zsh; zstyle ':completion:*' list-prompt ''; LISTMAX=1000; setopt no_beep; bindkey '^X' list-choices; bindkey '^I' complete-word; print rea''dy"
zpty -r shell said '*ready*'
zpty -n -w shell "$1"$'\\t'$'\\x18'"; print do''ne"$'\\n'
zpty -r shell said '*done*'
print -r -- "$said"
zpty -d shell
`

describeInstalled('zsh', [['zsh', '--version']], () => {
  test.each(rows)('completes %j', (line, some) => {
    const said = ask('zsh', '--no-rcs', '-c', zshProgram, 'zsh', line).join('\n')
    for (const word of some) expect(said).toContain(word)
  })
})

describe('holdfast completion', () => {
  test.each([[[]], [['tcsh']], [['bash', 'zsh']]])('refuses %j', async (words) => {
    const { code, stderr } = await run(['completion', ...words]).ended
    expect(code).toBe(2)
    expect(stderr).toContain('bash, fish, zsh')
  })
})
