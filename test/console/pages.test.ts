/** Every page of the console in a real browser against a real server, as a person uses it: by the names of buttons and fields. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  GetObjectCommand,
  GetObjectRetentionCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { environmentKey, type ReadyEvent, type Running, serve } from '../cli/holdfast-process.ts'
import { describeInstalled } from '../support/installed.ts'
import { startBrowser } from './browser.ts'

const mebibyte = 1024 * 1024
const folderFiles = 1000

describeInstalled('the console in Chromium', [['chromium', '--version']], () => {
  let folder: string
  let server: Running & { ready: ReadyEvent }
  let browser: Browser
  let page: Page
  let s3: S3Client
  /** Errors of the page, and what its security policy refused. */
  const complaints: string[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-console-'))
    const words = ['--data', join(folder, 'data'), '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
    server = await serve(['serve', ...words])
    s3 = new S3Client({
      endpoint: server.ready.endpoint,
      region: 'us-east-1',
      credentials: environmentKey,
      forcePathStyle: true,
    })
    browser = await startBrowser()
  })

  afterAll(async () => {
    await browser?.close()
    server?.child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })

  beforeEach(async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true })
    context.setDefaultTimeout(90_000)
    page = await context.newPage()
    await page.goto(server.ready.adminEndpoint ?? '')
    await logIn(environmentKey)
    page.on('console', (message) => {
      // What a bucket does not have is answered with 404, which is no failure of the page.
      const isAnswer = message.text().startsWith('Failed to load resource')
      if (['error', 'warning'].includes(message.type()) && !isAnswer) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
  })

  afterEach(async () => {
    await page.context().close()
    complaints.length = 0
  })

  async function logIn({ accessKeyId, secretAccessKey }: typeof environmentKey): Promise<void> {
    await page.getByLabel('Access key').fill(accessKeyId)
    await page.getByLabel('Secret key').fill(secretAccessKey)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('heading', { name: 'Buckets' }).waitFor()
  }

  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('button', { name, exact: true }) })

  async function openBucket(name: string, tab: 'objects' | 'settings' = 'objects'): Promise<void> {
    await page.goto(`${server.ready.adminEndpoint}#/bucket/${name}/${tab}`)
    // The address may be the same as before.
    await page.reload()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
  }

  async function createBucket(name: string, { lock = false } = {}): Promise<void> {
    await page.goto(`${server.ready.adminEndpoint}#/buckets`)
    await button('Create bucket').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill(name)
    if (lock) await dialog.getByLabel(/Object lock/).check()
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
  }

  const put = (Bucket: string, Key: string, Body: string) => s3.send(new PutObjectCommand({ Bucket, Key, Body }))
  const keysOf = async (Bucket: string, Prefix?: string): Promise<string[]> => {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix }))
    return Contents.map(({ Key = '' }) => Key)
  }

  it('refuses a wrong secret, and says so', async () => {
    await button('Log out').click()
    await page.getByLabel('Access key').fill(environmentKey.accessKeyId)
    await page.getByLabel('Secret key').fill('wrong')
    await button('Log in').click()
    await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/key|secret/i)
  })

  it('asks no other host than the server', async () => {
    const asked = new Set<string>()
    page.on('request', (request) => asked.add(new URL(request.url()).origin))
    await createBucket('origins')
    await page.goto(`${server.ready.adminEndpoint}#/machine/stores`)
    await page.getByRole('heading', { name: 'Machine room' }).waitFor()
    const own = [server.ready.adminEndpoint, server.ready.endpoint].map((url) => new URL(url ?? '').origin)
    expect([...asked].filter((origin) => !own.includes(origin))).toEqual([])
    expect(complaints).toEqual([])
  })

  it('uploads a folder of 1,000 files, and deletes it', async () => {
    const source = join(folder, 'many')
    await mkdir(join(source, 'inner'), { recursive: true })
    for (let i = 0; i < folderFiles; i++) {
      const name = i % 2 === 0 ? `file-${i}.txt` : `inner/file-${i}.txt`
      await writeFile(join(source, name), `contents ${i}`)
    }
    await createBucket('folders')
    await page.locator('input[data-chooses=folder]').setInputFiles(source)
    await page.getByText(`${folderFiles.toLocaleString('en-US')} of 1,000 files`).waitFor({ timeout: 120_000 })
    expect((await keysOf('folders', 'many/inner/')).length).toBe(folderFiles / 2)
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'folders', Key: 'many/inner/file-7.txt' }))
    expect(await Body?.transformToString()).toBe('contents 7')

    await button('Refresh').click()
    await row('many/').getByRole('checkbox').check()
    await button('Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deleted 1,000.').waitFor()
    expect(await keysOf('folders')).toEqual([])
  })

  it('pauses an upload, and resumes it after the page was left', async () => {
    const file = join(folder, 'large.bin')
    await writeFile(file, Buffer.alloc(96 * mebibyte, 7))
    await createBucket('large')
    // Slow enough to be caught in the middle.
    const devTools = await page.context().newCDPSession(page)
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 16 * mebibyte }
    await devTools.send('Network.emulateNetworkConditions', slow)
    await page.locator('input[data-chooses=files]').setInputFiles(file)
    await expect.poll(async () => (await partsOf('large')).length).toBeGreaterThan(0)
    await button('Pause').click()
    await page.getByText('1 paused').waitFor()
    const before = await partsOf('large')
    await devTools.send('Network.emulateNetworkConditions', { ...slow, uploadThroughput: -1 })

    await page.reload()
    await openBucket('large')
    await page.locator('input[data-chooses=files]').setInputFiles(file)
    await page.getByText('1 of 1 files').waitFor({ timeout: 120_000 })
    const head = await s3.send(new HeadObjectCommand({ Bucket: 'large', Key: 'large.bin' }))
    expect([head.ContentLength, head.ETag?.endsWith('-12"')]).toEqual([96 * mebibyte, true])
    expect(before.length).toBeGreaterThan(0)
    expect(await partsOf('large')).toEqual([])
  })

  /** The parts of the only upload of a bucket. */
  async function partsOf(Bucket: string): Promise<number[]> {
    const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket }))
    const { Key, UploadId } = Uploads[0] ?? {}
    if (Key === undefined || UploadId === undefined) return []
    const { ListPartsCommand } = await import('@aws-sdk/client-s3')
    const { Parts = [] } = await s3.send(new ListPartsCommand({ Bucket, Key, UploadId }))
    return Parts.map(({ PartNumber = 0 }) => PartNumber)
  }

  it('restores an older version, and an object that was deleted', async () => {
    await createBucket('kept', { lock: true })
    await put('kept', 'note.txt', 'first')
    await put('kept', 'note.txt', 'second')
    await openBucket('kept')
    await button('note.txt').click()
    await button(/Restore version/).click()
    await page.getByText('current one again').waitFor()
    const read = async () =>
      (await s3.send(new GetObjectCommand({ Bucket: 'kept', Key: 'note.txt' }))).Body?.transformToString()
    expect(await read()).toBe('first')

    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await expect.poll(() => read().catch((error: Error) => error.name)).toBe('NoSuchKey')
    await page.getByLabel('Show versions').check()
    await button('note.txt').first().click()
    await button('Restore the object').click()
    await page.getByText('The object is back.').waitFor()
    expect(await read()).toBe('first')
  })

  it('locks a version, changes tags and metadata, previews, and shares', async () => {
    await createBucket('locked', { lock: true })
    await put('locked', 'note.txt', 'a text to see')
    await openBucket('locked')
    await button('note.txt').click()
    await button('Legal hold').click()
    await page.getByText('The version is on hold.').waitFor()
    await button('Retain…').click()
    const retain = page.getByRole('dialog', { name: 'Retain this version' })
    await retain.getByLabel('Until').fill('2099-01-01T00:00')
    await retain.getByRole('button', { name: 'Retain', exact: true }).click()
    await page.getByText('Retention changed.').waitFor()
    const { Retention } = await s3.send(new GetObjectRetentionCommand({ Bucket: 'locked', Key: 'note.txt' }))
    expect(Retention?.Mode).toBe('GOVERNANCE')

    await button('Change tags').click()
    const tags = page.getByRole('dialog', { name: 'Change tags' })
    await tags.getByRole('button', { name: 'Add' }).click()
    await tags.getByLabel('Name 1').fill('team')
    await tags.getByLabel('Value 1').fill('red team')
    await tags.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('definition').filter({ hasText: 'red team' }).waitFor()

    await button('Show text').click()
    await page.getByText('a text to see').waitFor()

    await button('Share').click()
    const share = page.getByRole('dialog', { name: 'Share' })
    await share.getByRole('button', { name: 'Make link' }).click()
    const link = share.getByLabel('Link')
    await link.waitFor()
    expect(await (await fetch(await link.inputValue())).text()).toBe('a text to see')
  })

  it('makes a user with a key that reaches one bucket only', async () => {
    await createBucket('scoped')
    await put('scoped', 'mine.txt', 'x')
    await page.goto(`${server.ready.adminEndpoint}#/access/users`)
    await button('Create user').click()
    const create = page.getByRole('dialog')
    await create.getByLabel('Name').fill('alice')
    await create.getByLabel('May do').selectOption('readwrite')
    await create.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Created alice.').waitFor()

    await page.getByRole('link', { name: 'Keys' }).last().click()
    await button('Create key').click()
    const key = page.getByRole('dialog')
    await key.getByLabel('Only for bucket').selectOption('scoped')
    await key.getByRole('button', { name: 'Create', exact: true }).click()
    const secret = page.getByRole('dialog', { name: 'The secret is shown once' })
    const credentials = {
      accessKeyId: await secret.getByLabel('Access key').inputValue(),
      secretAccessKey: await secret.getByLabel('Secret key').inputValue(),
    }
    const alice = new S3Client({
      endpoint: server.ready.endpoint,
      region: 'us-east-1',
      credentials,
      forcePathStyle: true,
    })
    expect((await alice.send(new ListObjectsV2Command({ Bucket: 'scoped' }))).KeyCount).toBe(1)
    await expect(alice.send(new ListObjectsV2Command({ Bucket: 'locked' }))).rejects.toThrow('not permitted')

    // The console of that user shows no machine room.
    await secret.getByRole('button', { name: 'Done' }).click()
    await button('Log out').click()
    await logIn(credentials)
    expect(await page.getByRole('link', { name: 'Machine room' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Access' }).count()).toBe(0)
  })

  it('edits the policy of a bucket, refuses a wrong one, and explains it', async () => {
    await createBucket('policies')
    await put('policies', 'page.html', '<h1>all</h1>')
    await openBucket('policies', 'settings')
    const policy = page.getByRole('region', { name: 'Policy' })
    await policy.getByLabel('Document').fill('{"Statement": 1}')
    await policy.getByRole('button', { name: 'Save' }).click()
    await policy.getByRole('alert').waitFor()
    await policy.getByRole('button', { name: 'Let everybody read' }).click()
    await policy.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    expect((await fetch(`${server.ready.endpoint}/policies/page.html`)).status).toBe(200)

    await policy.getByRole('button', { name: 'Explain…' }).click()
    const explain = page.getByRole('dialog', { name: 'Explain access' })
    await explain.getByLabel('Resource').fill('policies/page.html')
    await explain.getByRole('button', { name: 'Explain' }).click()
    await explain.getByText('Allowed').waitFor()
  })

  it('shows names and metadata that are markup as text', async () => {
    const hostile = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'`
    await createBucket('hostile')
    await s3.send(
      new PutObjectCommand({ Bucket: 'hostile', Key: hostile, Body: 'x', Metadata: { note: '<script>1</script>' } }),
    )
    await openBucket('hostile')
    await button(hostile).click()
    await page.getByText('<script>1</script>').waitFor()
    expect(await page.title()).toBe('Holdfast')
    expect(complaints).toEqual([])
  })

  it('works by the keyboard alone', async () => {
    await createBucket('keyboard')
    for (const name of ['a', 'b', 'c']) await put('keyboard', `${name}.txt`, name)
    await openBucket('keyboard')
    await page.getByRole('grid', { name: 'Objects' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Space')
    await page.getByText('1 selected').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'b.txt' }).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  })
})
