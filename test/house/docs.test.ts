import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { adminPage } from '../../src/admin/requests/page.ts'
import { adminOperations } from '../../src/admin/table.ts'
import { commands } from '../../src/cli/commands.ts'
import { manualPage } from '../../src/cli/manual.ts'
import { configurationPage } from '../../src/config/page.ts'
import { apiPage, limitsSummary, supportSummary } from '../../src/contract/api-page.ts'
import { errorsPage } from '../../src/contract/errors-page.ts'
import { supportTable } from '../../src/contract/support-table.ts'
import { operations } from '../../src/operations/table.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (file: string): string => readFileSync(root + file, 'utf8')
const rows = supportTable(operations)
const pages = ['.', 'docs', 'docs/adr', 'docs/benchmarks', 'docs/guides'].flatMap((folder) =>
  readdirSync(root + folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(folder, name)),
)

/** The anchors that GitHub gives to the headings of a page. */
function anchors(page: string): string[] {
  const text = read(page).replace(/^```.*?^```/gms, '')
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  )
}

// When one of these fails, `npm run docs` writes what the code says now.
describe('the generated documentation', () => {
  it('lists the operations as they are', () => {
    expect(read('docs/api.md')).toBe(apiPage(rows))
  })

  it('lists the errors as they are', () => {
    expect(read('docs/errors.md')).toBe(errorsPage(operations))
  })

  it('lists the operations of the admin port as they are', () => {
    expect(read('docs/admin.md')).toBe(adminPage(adminOperations))
  })

  it('lists the commands as they are in the manual page', () => {
    expect(read('packaging/man/holdfast.1')).toBe(manualPage(commands))
  })

  it('lists the options as they are', () => {
    expect(read('docs/configuration.md')).toBe(configurationPage())
  })

  it.each([
    ['support table', 'README.md', supportSummary(rows)],
    ['limits', 'docs/compatibility.md', limitsSummary()],
  ])('has the %s in %s as it is', (name, page, text) => {
    expect(read(page)).toContain(`<!-- ${name} -->\n${text}\n<!-- /${name} -->\n`)
  })
})

describe('the written documentation', () => {
  it.each(pages)('%s refers to nothing that is not there', (page) => {
    const text = read(page)
    const folder = page.slice(0, page.lastIndexOf('/') + 1)
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => folder + link)
    const sources = [...text.matchAll(/`((?:src|test|scripts|docs|examples)\/[\w./-]+\.\w+)`/g)].map(
      ([, path = '']) => path,
    )
    expect([...links, ...sources].filter((path) => !existsSync(root + path))).toEqual([])
  })

  // Builders of sites don't check this.
  it.each(pages)('%s refers to no heading that is not there', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)]
    const dead = links.filter(([, path = '', anchor = '']) => {
      const target = path === '' ? page : posix.join(posix.dirname(page), path)
      return target.endsWith('.md') && !anchors(target).includes(anchor)
    })
    expect(dead.map(([link]) => link)).toEqual([])
  })

  it.each(pages.filter((page) => page.startsWith('docs/adr/')))(
    '%s has a date, a context, a decision and consequences',
    (page) => {
      const text = read(page)
      expect(text).toMatch(/^# \d{4}: .+\n\n20\d\d-\d\d-\d\d, accepted/)
      expect([...text.matchAll(/^## (.*)$/gm)].map(([, head]) => head)).toEqual(
        expect.arrayContaining(['Context', 'Decision', 'Consequences']),
      )
    },
  )

  it('has no cell in the README that nobody would read to its end', () => {
    const cells = read('README.md')
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .flatMap((row) => row.split('|'))
    expect(cells.length).toBeGreaterThan(0)
    expect(cells.filter((cell) => cell.length > 200)).toEqual([])
  })

  it('gives the two commands, which npm knows', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const commands = [...read('README.md').matchAll(/^npm ci && npm (\w+)/gm)].map(([, name = '']) => name)
    expect(commands).toEqual(['start', 'test'])
    for (const name of commands) expect(scripts).toHaveProperty(name)
  })

  it('names in CONTRIBUTING.md only commands that npm knows', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const named = [...read('CONTRIBUTING.md').matchAll(/`npm (?:run )?(\w+)/g)].map(([, name = '']) => name)
    expect(named.length).toBeGreaterThan(4)
    expect(named.filter((name) => name !== 'ci' && !(name in scripts))).toEqual([])
  })
})
