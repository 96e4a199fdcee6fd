/** Renders docs/configuration.md from the option table. */
import { credentialPairs, type Option, optionNames, options } from './options.ts'

export function configurationPage(): string {
  const rows = optionNames.map((name) => row(options[name]))
  return `${[
    '# Configuration',
    '',
    '<!-- Generated from src/config/options.ts by `npm run docs`. Do not edit. -->',
    '',
    'Flags come before environment variables, those before the TOML file, and that before the initial value. Where several',
    'variables are named, the first that is set counts; an empty variable counts as not set. An unknown key in the file is refused.',
    '',
    '| Flag | Environment | TOML | Initial | Meaning |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
    'A `DURATION` is a number with `ms`, `s`, `m`, `h` or `d`; without a unit it counts seconds. Relative paths on the command line',
    'and in variables are relative to the working directory, those in the file to the file.',
    '',
    '## Credentials',
    '',
    "The root account's key comes from the first complete pair of:",
    '',
    ...credentialPairs.map(([id, secret]) => `- \`${id}\` and \`${secret}\``),
    '',
    'Half a pair, or a secret of fewer than 8 characters, is refused. With no pair set and no accounts in the file, a random key is made at',
    'the first start, printed once, and kept in `credentials.json` in the data directory (mode 0600). There are no default secrets, and no',
    'flag takes one: command lines are visible to other users.',
    '',
    '## Accounts',
    '',
    'Further accounts and keys stand in the file. `id` owns buckets: keep it when you change keys. The key from the environment or the',
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
    '`[stores]` and `[locations]` are names of a later version; this one refuses them.',
  ].join('\n')}\n`
}

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

const code = (text: string): string => `\`${text}\``
