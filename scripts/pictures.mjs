/** Makes the pictures of docs/console: a server with something to see in it, and a browser that looks. Needs a build and Chromium. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import {
  CreateBucketCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { chromium } from 'playwright-core'

const pictures = fileURLToPath(new URL('../docs/console', import.meta.url))
const key = { accessKeyId: 'operator', secretAccessKey: 'secret-of-pictures' }
const disks = ['disk1', 'disk2', 'disk3', 'disk4']
const config = `data = "data"
defaultLocation = "mirrored"
${disks.map((name, i) => `[stores.${name}]\ntype = "directory"\npath = "${name}"\ndomain = "shelf-${i % 2 === 0 ? 'a' : 'b'}"\n`).join('')}
[locations.mirrored]
scheme = "replica"
copies = 2
stores = ["disk1", "disk2", "disk3"]
[locations.striped]
scheme = "erasure"
data = 2
parity = 2
maxPerDomain = 2
stores = ${JSON.stringify(disks)}
`

async function startServer(folder) {
  await writeFile(join(folder, 'holdfast.toml'), config)
  const main = fileURLToPath(new URL('../dist/joined/main.js', import.meta.url))
  const listen = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  const words = [main, 'serve', '--json', '--config', join(folder, 'holdfast.toml'), ...listen]
  const env = {
    PATH: process.env.PATH,
    HOLDFAST_ACCESS_KEY_ID: key.accessKeyId,
    HOLDFAST_SECRET_ACCESS_KEY: key.secretAccessKey,
  }
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit').then(() => undefined)
  const said = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
  if (said === undefined) throw new Error('the server did not start')
  const [line] = said
  return { child, ready: JSON.parse(line) }
}

async function fill(s3) {
  const put = (Bucket, Key, Body, more = {}) => s3.send(new PutObjectCommand({ Bucket, Key, Body, ...more }))
  for (const Bucket of ['backups', 'photos', 'website']) await s3.send(new CreateBucketCommand({ Bucket }))
  const VersioningConfiguration = { Status: 'Enabled' }
  await s3.send(new PutBucketVersioningCommand({ Bucket: 'photos', VersioningConfiguration }))
  for (let i = 0; i < 40; i++)
    await put('photos', `2026/${String(i).padStart(2, '0')}-harbour.jpg`, Buffer.alloc(200_000 + i * 34_567, i))
  await put('backups', 'database.dump', Buffer.alloc(30_000_000, 1))
  await put('website', 'index.html', '<h1>Hello</h1>')
  const note = { ContentType: 'text/markdown', Metadata: { author: 'anna' } }
  for (const text of ['# Photos', '# Photos of the harbour']) await put('photos', 'readme.md', text, note)
  const TagSet = [{ Key: 'team', Value: 'red' }]
  await s3.send(new PutObjectTaggingCommand({ Bucket: 'photos', Key: 'readme.md', Tagging: { TagSet } }))
}

async function look(browser, ready, { name, place, until, colorScheme = 'light', act, width = 1200, height = 760 }) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, locale: 'en-GB' })
  const page = await context.newPage()
  await page.goto(ready.adminEndpoint)
  await page.getByLabel('Access key').fill(key.accessKeyId)
  await page.getByLabel('Secret key').fill(key.secretAccessKey)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { name: 'Buckets', level: 1 }).waitFor()
  await page.goto(`${ready.adminEndpoint}#/${place}`)
  await act?.(page)
  await page.getByText(until).first().waitFor()
  await page.locator('.loading, .notice').first().waitFor({ state: 'detached' })
  await page.screenshot({ path: join(pictures, `${name}.png`) })
  await context.close()
}

async function makeUser(page) {
  await page.getByRole('button', { name: 'Create user' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('anna')
  await dialog.getByLabel('May do').selectOption('readwrite')
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
}

async function scrub(page) {
  await page.getByRole('button', { name: 'Scrub' }).click()
  await page.getByRole('cell', { name: 'done' }).waitFor()
}

const folder = await mkdtemp(join(tmpdir(), 'holdfast-pictures-'))
const { child, ready } = await startServer(folder)
const s3 = new S3Client({ endpoint: ready.endpoint, region: 'us-east-1', credentials: key, forcePathStyle: true })
const executablePath = spawnSync('which', ['chromium'], { encoding: 'utf8' }).stdout.trim()
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
try {
  await fill(s3)
  await mkdir(pictures, { recursive: true })
  const dark = { colorScheme: 'dark' }
  const views = [
    { name: 'buckets', place: 'buckets', until: '28.6 MiB' },
    { name: 'objects', place: 'bucket/photos/objects?folder=2026/', until: '00-harbour.jpg' },
    { name: 'object-dark', place: 'bucket/photos/objects?object=readme.md', until: 'current', ...dark },
    { name: 'settings', place: 'bucket/photos/settings', until: 'Its data lies in' },
    { name: 'access', place: 'access/users', until: 'Enabled', act: makeUser },
    { name: 'tasks', place: 'machine/tasks', until: 'scrub', act: scrub },
    { name: 'phone', place: 'bucket/photos/objects?folder=2026/', until: '00-harbour.jpg', width: 390, height: 760 },
  ]
  for (const view of views) await look(browser, ready, view)
  // The last, because it is a loss.
  await rename(join(folder, 'disk3'), join(folder, 'lost'))
  await look(browser, ready, { name: 'stores', place: 'machine/stores', until: 'AT RISK', height: 980 })
} finally {
  await browser.close()
  child.kill('SIGKILL')
  await once(child, 'exit')
  await rm(folder, { recursive: true, force: true })
}
