/** A website as people see it: Chromium opens a bucket below a website domain, over a server that the AWS CLI set up. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, it } from 'vitest'
import { describeInstalled } from '../support/installed.ts'
import { describeClient } from './client-tools.ts'

/** The page's own script tells where the browser is, so that relative addresses prove which directory it is in. */
const page = (title: string): string =>
  `<!doctype html><title>${title}</title><link rel="stylesheet" href="style.css"><p id="at"></p><p id="color"></p>
<script>
at.textContent = location.pathname
onload = () => { color.textContent = getComputedStyle(document.body).color }
</script>`

const files: Readonly<Record<string, string>> = {
  'index.html': page('home'),
  'style.css': 'body { color: rgb(1, 2, 3) }',
  'error.html': page('not here'),
  'docs/index.html': page('docs'),
  'docs/style.css': 'body { color: rgb(4, 5, 6) }',
}

/** What the page is once its scripts have run. */
async function dom(url: string): Promise<string> {
  const profile = await mkdtemp(join(tmpdir(), 'holdfast-browser-'))
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run']
  const local = '--host-resolver-rules=MAP *.site.test 127.0.0.1'
  const words = [...flags, local, `--user-data-dir=${profile}`, '--timeout=30000', '--dump-dom', url]
  const browser = spawn('chromium', words, { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    return await text(browser.stdout)
  } finally {
    browser.kill('SIGKILL')
    await rm(profile, { recursive: true, force: true, maxRetries: 20 })
  }
}

const shown = (html: string): Record<string, string | undefined> => ({
  title: /<title>(.*?)</.exec(html)?.[1],
  at: /id="at">(.*?)</.exec(html)?.[1],
  color: /id="color">(.*?)</.exec(html)?.[1],
})

describeClient('a website that the AWS CLI made', ['aws', '--version'], (at) => {
  const s3api = (...words: string[]): Promise<string> => at.client('aws', 's3api', ...words)

  beforeAll(async () => {
    await at.client('mkdir', '-p', 'files/docs')
    for (const [name, content] of Object.entries(files)) await writeFile(join(at.directory, 'files', name), content)
    await at.client('aws', 's3', 'mb', 's3://pages')
    await at.client('aws', 's3', 'sync', 'files', 's3://pages')
    const statement = { Effect: 'Allow', Principal: '*', Action: ['s3:GetObject', 's3:ListBucket'] }
    const Resource = ['arn:aws:s3:::pages', 'arn:aws:s3:::pages/*']
    const policy = { Version: '2012-10-17', Statement: [{ ...statement, Resource }] }
    await s3api('put-bucket-policy', '--bucket', 'pages', '--policy', JSON.stringify(policy))
    const documents = ['--index-document', 'index.html', '--error-document', 'error.html']
    await at.client('aws', 's3', 'website', 's3://pages', ...documents)
  })

  it('is configured as the CLI says', async () => {
    const printed = await s3api('get-bucket-website', '--bucket', 'pages', '--output', 'json')
    expect(JSON.parse(printed)).toEqual({
      IndexDocument: { Suffix: 'index.html' },
      ErrorDocument: { Key: 'error.html' },
    })
  })

  describeInstalled('in Chromium', [['chromium', '--version']], () => {
    it.each([
      ['/', { title: 'home', at: '/', color: 'rgb(1, 2, 3)' }],
      ['/docs/', { title: 'docs', at: '/docs/', color: 'rgb(4, 5, 6)' }],
      ['/docs', { title: 'docs', at: '/docs/', color: 'rgb(4, 5, 6)' }],
      ['/missing', { title: 'not here', at: '/missing', color: 'rgb(1, 2, 3)' }],
    ])(
      'shows %s',
      async (path, expected) => {
        const port = new URL(at.endpoint).port
        expect(shown(await dom(`http://pages.site.test:${port}${path}`))).toEqual(expected)
      },
      60_000,
    )
  })
})
