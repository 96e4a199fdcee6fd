/** A visit to the console: a server, a Chromium, a page that is logged in, and the steps that every suite takes. It runs no test by itself. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { environmentKey, type ReadyEvent, type Running, serve } from '../cli/holdfast-process.ts'
import { startBrowser } from './browser.ts'

export class ConsoleVisit {
  folder = ''
  server: (Running & { ready: ReadyEvent }) | undefined
  browser: Browser | undefined
  #page: Page | undefined
  #s3: S3Client | undefined
  /** Errors of the page, and what its security policy refused. */
  readonly complaints: string[] = []

  get page(): Page {
    if (this.#page === undefined) throw new Error('no page is open yet')
    return this.#page
  }

  get s3(): S3Client {
    if (this.#s3 === undefined) throw new Error('no server runs yet')
    return this.#s3
  }

  get ready(): ReadyEvent {
    if (this.server === undefined) throw new Error('no server runs yet')
    return this.server.ready
  }

  /** `words`: further words of the command line. */
  async startServer(words: readonly string[]): Promise<void> {
    this.server = await serve(['serve', ...words, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'])
    this.#s3 = this.clientOf(environmentKey)
  }

  clientOf(credentials: typeof environmentKey): S3Client {
    return new S3Client({ endpoint: this.ready.endpoint, region: 'us-east-1', credentials, forcePathStyle: true })
  }

  /** A logged-in page of a new browser. */
  async openPage(options: BrowserContextOptions = {}): Promise<void> {
    if (this.browser === undefined) throw new Error('no browser runs yet')
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    context.setDefaultTimeout(120_000)
    this.#page = await context.newPage()
    await this.page.goto(this.ready.adminEndpoint ?? '')
    await this.logIn(environmentKey)
    this.page.on('console', (message) => {
      // A bucket without a setting is answered with 404, which is no failure of the page.
      const isAnswer = message.text().startsWith('Failed to load resource')
      if (['error', 'warning'].includes(message.type()) && !isAnswer) this.complaints.push(message.text())
    })
    this.page.on('pageerror', (error) => this.complaints.push(error.message))
  }

  /** Why a test failed is often seen only on the page, or in the log of the server. */
  async lastSeen(): Promise<string> {
    const shown = await this.#page?.locator('body').ariaSnapshot({ timeout: 10_000 }).catch(String)
    const log = this.server?.output.stderr.slice(-4000)
    return [`--- ${this.#page?.url()}`, shown, '--- complaints', ...this.complaints, '--- log', log].join('\n')
  }

  async closePage(): Promise<void> {
    await this.#page?.context().close()
    this.#page = undefined
    this.complaints.length = 0
  }

  async logIn({ accessKeyId, secretAccessKey }: typeof environmentKey): Promise<void> {
    await this.page.getByLabel('Access key').fill(accessKeyId)
    await this.page.getByLabel('Secret key').fill(secretAccessKey)
    await this.page.getByRole('button', { name: 'Log in' }).click()
    await this.page.getByRole('heading', { name: 'Buckets', level: 1 }).waitFor()
  }

  readonly button = (name: string | RegExp): Locator => this.page.getByRole('button', { name, exact: true })
  readonly row = (name: string): Locator =>
    this.page.getByRole('row').filter({ has: this.page.getByRole('button', { name, exact: true }) })

  /** `place`: the part of the URL after `#/`. */
  async open(place: string, heading: string): Promise<void> {
    await this.page.goto(`${this.ready.adminEndpoint}#/${place}`)
    // The URL may be the same as before.
    await this.page.reload()
    await this.page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  }

  openBucket(name: string, tab: 'objects' | 'settings' = 'objects'): Promise<void> {
    return this.open(`bucket/${name}/${tab}`, name)
  }

  async createBucket(name: string, { lock = false } = {}): Promise<void> {
    await this.page.goto(`${this.ready.adminEndpoint}#/buckets`)
    await this.button('Create bucket').click()
    const dialog = this.page.getByRole('dialog')
    await dialog.getByLabel('Name').fill(name)
    if (lock) await dialog.getByLabel(/Object lock/).check()
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await this.page.getByRole('heading', { name, level: 1 }).waitFor()
  }

  readonly put = (Bucket: string, Key: string, Body: string | Buffer) =>
    this.s3.send(new PutObjectCommand({ Bucket, Key, Body }))

  async keysOf(Bucket: string, Prefix?: string): Promise<string[]> {
    const { Contents = [] } = await this.s3.send(new ListObjectsV2Command({ Bucket, Prefix }))
    return Contents.map(({ Key = '' }) => Key)
  }
}

/** `start` starts the server. Absent: one on an empty directory. Each test has a page of its own. */
export function visitConsole(
  start: (visit: ConsoleVisit) => Promise<void> = (visit) => visit.startServer(['--data', join(visit.folder, 'data')]),
): ConsoleVisit {
  const visit = new ConsoleVisit()
  beforeAll(async () => {
    visit.folder = await mkdtemp(join(tmpdir(), 'holdfast-console-'))
    await start(visit)
    visit.browser = await startBrowser()
  })
  afterAll(async () => {
    await visit.browser?.close()
    visit.server?.child.kill('SIGKILL')
    await visit.server?.ended
    await rm(visit.folder, { recursive: true, force: true, maxRetries: 20 })
  })
  beforeEach(() => visit.openPage())
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') console.error(await visit.lastSeen())
    await visit.closePage()
  })
  return visit
}
