// `npm run docs`: writes the pages, the manual page and the sections of other pages that are generated from the compiled code's tables.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { adminPage } from '../dist/src/admin/requests/page.js'
import { adminOperations } from '../dist/src/admin/table.js'
import { commands } from '../dist/src/cli/commands.js'
import { manualPage } from '../dist/src/cli/manual.js'
import { configurationPage } from '../dist/src/config/page.js'
import { apiPage, limitsSummary, supportSummary } from '../dist/src/contract/api-page.js'
import { errorsPage } from '../dist/src/contract/errors-page.js'
import { supportTable } from '../dist/src/contract/support-table.js'
import { operations } from '../dist/src/operations/table.js'

const root = new URL('../', import.meta.url)
const rows = supportTable(operations)

mkdirSync(new URL('docs/', root), { recursive: true })
writeFileSync(new URL('docs/configuration.md', root), configurationPage())
writeFileSync(new URL('docs/api.md', root), apiPage(rows))
writeFileSync(new URL('docs/errors.md', root), errorsPage(operations))
mkdirSync(new URL('packaging/man/', root), { recursive: true })
writeFileSync(new URL('packaging/man/holdfast.1', root), manualPage(commands))
writeFileSync(new URL('docs/admin.md', root), adminPage(adminOperations))
replaceSection('README.md', 'support table', supportSummary(rows))
replaceSection('docs/compatibility.md', 'limits', limitsSummary())

/** Puts `text` between `<!-- name -->` and `<!-- /name -->`. */
function replaceSection(file, name, text) {
  const url = new URL(file, root)
  const before = readFileSync(url, 'utf8')
  const [head, rest] = before.split(`<!-- ${name} -->\n`)
  const tail = rest?.split(`<!-- /${name} -->\n`)[1]
  if (tail === undefined) throw new Error(`${file} has no section '${name}'`)
  writeFileSync(url, `${head}<!-- ${name} -->\n${text}\n<!-- /${name} -->\n${tail}`)
}
