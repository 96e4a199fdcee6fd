/** What a person has after a download: a file of one object, or an archive of many, through the browser's own downloads. */
import { readFile } from 'node:fs/promises'
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import type { Download } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInstalled } from '../support/installed.ts'
import { patternBytes } from '../support/seeded.ts'
import { visitConsole } from './console-visit.ts'
import { readZip } from './zip.ts'

/** Takes more than one range. */
const large = patternBytes(1, 9 * 1024 * 1024)

describeInstalled('downloads', [['chromium', '--version']], () => {
  const visit = visitConsole()
  const { button, row, put, complaints } = visit

  const makeBucket = async (Bucket: string, objects: Readonly<Record<string, string | Buffer>>): Promise<void> => {
    await visit.s3.send(new CreateBucketCommand({ Bucket }))
    for (const [key, body] of Object.entries(objects)) await put(Bucket, key, body)
  }

  /** Acts like a browser whose pages can't write files: the archive goes through memory into a download. */
  async function withoutFilePicker(): Promise<void> {
    await visit.page.addInitScript('delete window.showSaveFilePicker')
  }

  const bytesOf = async (download: Download): Promise<Buffer> => readFile(await download.path())

  async function downloadSelected(): Promise<Map<string, Buffer>> {
    await button('Download').click()
    const downloading = visit.page.waitForEvent('download')
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Download' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toMatch(/^[a-z]+\.zip$/)
    await visit.page.getByText('done.').waitFor()
    return readZip(await bytesOf(download))
  }

  it('one object becomes a file named by the last part of its key', async () => {
    await makeBucket('single', { 'reports/März & "Mai".txt': 'the report' })
    await visit.page.goto(`${visit.ready.adminEndpoint}#/bucket/single/objects?folder=reports/`)
    await button('März & "Mai".txt').click()
    const downloading = visit.page.waitForEvent('download')
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Download' }).click()
    const download = await downloading
    // Browsers replace what their system does not allow.
    expect(download.suggestedFilename()).toMatch(/^März & .Mai.\.txt$/)
    expect((await bytesOf(download)).toString()).toBe('the report')
  })

  it('several objects and folders become one archive with their bytes', async () => {
    await makeBucket('many', {
      'a.txt': 'first',
      'b.txt': 'not chosen',
      'empty.txt': '',
      'films/large.bin': large,
      'films/old/note.txt': 'below',
      'films/': '',
    })
    await withoutFilePicker()
    await visit.openBucket('many')
    for (const name of ['a.txt', 'empty.txt', 'films/']) await row(name).getByRole('checkbox').check()
    const entries = await downloadSelected()
    expect([...entries.keys()].sort()).toEqual(['a.txt', 'empty.txt', 'films/large.bin', 'films/old/note.txt'])
    expect(entries.get('a.txt')?.toString()).toBe('first')
    expect(entries.get('films/old/note.txt')?.toString()).toBe('below')
    expect(entries.get('films/large.bin')?.equals(large)).toBe(true)

    // Names leave out the folder in which the objects were selected.
    await visit.page.getByRole('button', { name: 'Close' }).last().click()
    await button('films/').click()
    await row('old/').getByRole('checkbox').check()
    expect([...(await downloadSelected()).keys()]).toEqual(['old/note.txt'])
    expect(complaints).toEqual([])
  })

  it('an archive can be paused, and goes on where it was, also after a lost connection', async () => {
    await makeBucket('paused', { 'a.bin': large, 'b.txt': 'second' })
    await withoutFilePicker()
    await visit.openBucket('paused')
    const asked: string[] = []
    let letGo = (): void => {}
    const isPaused = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await visit.page.route(/\/paused\/[ab]\./, async (route) => {
      const { range } = route.request().headers()
      if (range === undefined) return route.continue()
      asked.push(`${new URL(route.request().url()).pathname} ${range}`)
      // The second piece comes when the button was pressed; the first try of what comes after it is lost.
      if (asked.length === 2) await isPaused
      return asked.length === 3 ? route.abort('connectionreset') : route.continue()
    })
    await visit.page.getByLabel('Select all that are loaded').check()
    await button('Download').click()
    const dialog = visit.page.getByRole('dialog')
    const downloading = visit.page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Download' }).click()
    await expect.poll(() => asked.length).toBe(2)
    await dialog.getByRole('button', { name: 'Pause' }).click()
    letGo()
    await dialog.getByText('1 objects, 9.00 MiB').waitFor()
    await visit.page.evaluate("fetch('/healthz').then((answer) => answer.text())")
    expect(asked.length).toBe(2)

    await dialog.getByRole('button', { name: 'Resume' }).click()
    await dialog.getByText('2 objects, 9.00 MiB: done.').waitFor()
    const entries = readZip(await bytesOf(await downloading))
    expect(entries.get('a.bin')?.equals(large)).toBe(true)
    expect(entries.get('b.txt')?.toString()).toBe('second')
    const second = '/paused/b.txt bytes=0-5'
    expect(asked.slice(2)).toEqual([second, second])
  })

  it('no name in an archive leads out of its folder, and keys that a browser cannot request are counted', async () => {
    await makeBucket('hostile', {
      'in/../../x': 'unreachable',
      'in/./y': 'unreachable',
      x: 'another object, which the address of in/../../x would lead to',
      'in//etc/passwd': 'absolute',
      'in/..\\..\\boot.ini': 'backslashes',
      'in/good.txt': 'good',
    })
    await withoutFilePicker()
    await visit.page.goto(`${visit.ready.adminEndpoint}#/bucket/hostile/objects?folder=in/`)
    await visit.page.reload()
    await visit.page.getByLabel('Select all that are loaded').check()
    const entries = await downloadSelected()
    expect(Object.fromEntries([...entries].map(([name, bytes]) => [name, bytes.toString()]))).toEqual({
      '_/etc/passwd': 'absolute',
      '.._.._boot.ini': 'backslashes',
      'good.txt': 'good',
    })
    await visit.page.getByText('2 left out').waitFor()
  })

  it('an archive goes straight into a file where the browser lets a page write one', async () => {
    await makeBucket('streamed', { 'a.txt': 'first', 'large.bin': large })
    // The browser asks where to save. The file that it gives the page is one of the test's.
    await visit.page.addInitScript(`window.showSaveFilePicker = async ({ suggestedName }) =>
      (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true })`)
    await visit.openBucket('streamed')
    await visit.page.getByLabel('Select all that are loaded').check()
    await button('Download').click()
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Download' }).click()
    await visit.page.getByText('2 objects, 9.00 MiB: done.').waitFor()
    const base64: string = await visit.page.evaluate(`(async () => {
      const handle = await (await navigator.storage.getDirectory()).getFileHandle('streamed.zip')
      const bytes = new Uint8Array(await new Response(await handle.getFile()).arrayBuffer())
      return bytes.toBase64()
    })()`)
    const entries = readZip(Buffer.from(base64, 'base64'))
    expect(entries.get('a.txt')?.toString()).toBe('first')
    expect(entries.get('large.bin')?.equals(large)).toBe(true)
  })
})
