// The site: navigation, search in the browser, and what becomes of links that leave docs/. It requests nothing from other hosts.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const docs = fileURLToPath(new URL('../../docs', import.meta.url))
/** That of the console, inside each page: a path would depend on where the site is served. */
const icon = `data:image/svg+xml,${encodeURIComponent(readFileSync(new URL('../../console/src/icon.svg', import.meta.url), 'utf8'))}`

const guides = [
  ['Five minutes', '/guides/five-minutes'],
  ['From MinIO', '/guides/from-minio'],
  ['From AWS', '/guides/from-aws'],
  ['Import', '/import'],
  ['Several disks', '/disks'],
  ['Several hosts', '/several-hosts'],
  ['Backup', '/guides/backup'],
  ['Security', '/guides/security'],
  ['Tests in CI', '/guides/tests-in-ci'],
]
const operating = [
  ['Running a server', '/running'],
  ['Packages', '/packaging'],
  ['Console', '/console'],
  ['Access', '/access'],
  ['Behind a proxy', '/proxies'],
  ['Websites and browsers', '/websites'],
  ['Versions and Object Lock', '/object-lock'],
  ['Lifecycle rules', '/lifecycle'],
  ['Events to webhooks', '/notifications'],
  ['Encryption at rest', '/encryption'],
  ['Alerts', '/alerts'],
  ['Traces', '/traces'],
  ['When metadata is lost', '/recovery'],
]
const reference = [
  ['Configuration', '/configuration'],
  ['Operations', '/api'],
  ['Errors', '/errors'],
  ['Admin port', '/admin'],
  ['Compatibility', '/compatibility'],
  ['Durability', '/durability'],
  ['Benchmarks', '/benchmarks'],
]
const items = (pages) => pages.map(([text, link]) => ({ text, link }))

/** Links to files that are no pages, such as sources, become text: the site does not hold them. A link to nothing stays, and fails the build. */
function unlinkOtherFiles(markdown) {
  const isOther = (href, page) => {
    if (/^(?:[a-z]+:|#|\/)/.test(href)) return false
    const file = join(docs, dirname(page), decodeURI(href).replace(/#.*/, ''))
    const isPage = file.endsWith('.md') && !relative(docs, file).startsWith('..')
    return !isPage && existsSync(file)
  }
  markdown.core.ruler.push('unlink-other-files', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let isUnlinked = false
      for (const token of children ?? []) {
        if (token.type === 'link_open') isUnlinked = isOther(token.attrGet('href') ?? '', env.relativePath)
        if (!isUnlinked || !token.type.startsWith('link_')) continue
        token.tag = 'span'
        token.type = token.type === 'link_open' ? 'span_open' : 'span_close'
        token.attrs = null
      }
    }
  })
}

/** With HTML off, comments would be shown. They stand on lines of their own. */
function hideComments(markdown) {
  markdown.core.ruler.before('normalize', 'hide-comments', (state) => {
    state.src = state.src.replace(/^<!-- .* -->$/gm, '')
  })
}

/** The anchors that GitHub gives to headings: a link to one holds there and here. */
function slugify(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}

export default defineConfig({
  title: 'Holdfast',
  description: 'An S3-compatible object store',
  // A link to docs/. Its pages keep their path below site/, so that what they import is found in site/node_modules.
  srcDir: 'docs',
  vite: { resolve: { preserveSymlinks: true } },
  outDir: fileURLToPath(new URL('../../dist/site', import.meta.url)),
  cacheDir: fileURLToPath(new URL('../node_modules/.cache', import.meta.url)),
  // Browsers hold it to that. VitePress has scripts and styles inside its pages.
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: icon }],
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: "default-src 'self' 'unsafe-inline' data:" }],
  ],
  // Names in angle brackets are placeholders, not elements.
  markdown: {
    html: false,
    anchor: { slugify },
    config: (markdown) => {
      unlinkOtherFiles(markdown)
      hideComments(markdown)
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Guides', link: '/guides/five-minutes' },
      { text: 'Configuration', link: '/configuration' },
      { text: 'Operations', link: '/api' },
    ],
    sidebar: [
      { text: 'Guides', items: items(guides) },
      { text: 'Operating', items: items(operating) },
      { text: 'Reference', items: items(reference) },
    ],
  },
})
