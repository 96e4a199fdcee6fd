/** Every page of the console in a real browser against a real server, as a person uses it: by the names of buttons and fields. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  GetObjectCommand,
  GetObjectRetentionCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { environmentKey } from '../cli/holdfast-process.ts'
import { describeInstalled } from '../support/installed.ts'
import { visitConsole } from './console-visit.ts'

const mebibyte = 1024 * 1024
const folderFiles = 1000

describeInstalled('the console in Chromium', [['chromium', '--version']], () => {
  const visit = visitConsole()
  const { button, row, put, complaints } = visit

  it('refuses a wrong secret, and says so', async () => {
    await button('Log out').click()
    await visit.page.getByLabel('Access key').fill(environmentKey.accessKeyId)
    await visit.page.getByLabel('Secret key').fill('wrong')
    await button('Log in').click()
    await expect.poll(() => visit.page.getByRole('alert').textContent()).toMatch(/key|secret/i)
  })

  it('asks no other host than the server', async () => {
    const asked = new Set<string>()
    visit.page.on('request', (request) => asked.add(new URL(request.url()).origin))
    await visit.createBucket('origins')
    await visit.page.goto(`${visit.ready.adminEndpoint}#/machine/stores`)
    await visit.page.getByRole('heading', { name: 'Machine room' }).waitFor()
    const own = [visit.ready.adminEndpoint, visit.ready.endpoint].map((url) => new URL(url ?? '').origin)
    expect([...asked].filter((origin) => !own.includes(origin))).toEqual([])
    expect(complaints).toEqual([])
  })

  it('uploads a folder of 1,000 files, and deletes it', { timeout: 600_000 }, async () => {
    const source = join(visit.folder, 'many')
    await mkdir(join(source, 'inner'), { recursive: true })
    for (let i = 0; i < folderFiles; i++) {
      const name = i % 2 === 0 ? `file-${i}.txt` : `inner/file-${i}.txt`
      await writeFile(join(source, name), `contents ${i}`)
    }
    await visit.createBucket('folders')
    await visit.page.locator('input[data-chooses=folder]').setInputFiles(source)
    await visit.page.getByText(`${folderFiles.toLocaleString('en-US')} of 1,000 files`).waitFor({ timeout: 400_000 })
    expect((await visit.keysOf('folders', 'many/inner/')).length).toBe(folderFiles / 2)
    const { Body } = await visit.s3.send(new GetObjectCommand({ Bucket: 'folders', Key: 'many/inner/file-7.txt' }))
    expect(await Body?.transformToString()).toBe('contents 7')

    await button('Refresh').click()
    await row('many/').getByRole('checkbox').check()
    await button('Delete').click()
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await visit.page.getByText('Deleted 1,000.').waitFor()
    expect(await visit.keysOf('folders')).toEqual([])
  })

  it('uploads what is dropped: folders, files, and files that come from another page', async () => {
    await mkdir(join(visit.folder, 'dropped', 'inner'), { recursive: true })
    await writeFile(join(visit.folder, 'dropped', 'inner', 'a.txt'), 'a')
    await writeFile(join(visit.folder, 'b.txt'), 'b')
    await visit.createBucket('drops')
    await visit.page.getByText('No objects yet').waitFor()
    const devTools = await visit.page.context().newCDPSession(visit.page)
    const files = ['dropped', 'b.txt'].map((name) => join(visit.folder, name))
    const data = { items: [], files, dragOperationsMask: 1 }
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await devTools.send('Input.dispatchDragEvent', { type, x: 600, y: 500, data })
    await visit.page.getByText('2 of 2 files').waitFor()
    await visit.page.evaluate(`{
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File(['c'], 'c.txt'))
      document.querySelector('[aria-label=Objects]').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }))
    }`)
    await visit.page.getByText('3 of 3 files').waitFor()
    expect(await visit.keysOf('drops')).toEqual(['b.txt', 'c.txt', 'dropped/inner/a.txt'])
  })

  it('pauses an upload, and resumes it after the page was left', async () => {
    const file = join(visit.folder, 'large.bin')
    await writeFile(file, Buffer.alloc(96 * mebibyte, 7))
    await visit.createBucket('large')
    // Slow enough that the upload can be paused in the middle.
    const devTools = await visit.page.context().newCDPSession(visit.page)
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 16 * mebibyte }
    await devTools.send('Network.emulateNetworkConditions', slow)
    // The last parts wait, however long it takes to press the button.
    const lastParts = /[?&]partNumber=(9|1\d)(&|$)/
    await visit.page.route(lastParts, () => {})
    await visit.page.locator('input[data-chooses=files]').setInputFiles(file)
    await expect.poll(async () => (await partsOf('large')).length).toBeGreaterThan(0)
    await button('Pause').click()
    await visit.page.getByText('1 paused').waitFor()
    const before = await partsOf('large')
    await visit.page.unroute(lastParts)
    await devTools.send('Network.emulateNetworkConditions', { ...slow, uploadThroughput: -1 })

    await visit.page.reload()
    await visit.openBucket('large')
    await visit.page.locator('input[data-chooses=files]').setInputFiles(file)
    await visit.page.getByText('1 of 1 files').waitFor({ timeout: 120_000 })
    const head = await visit.s3.send(new HeadObjectCommand({ Bucket: 'large', Key: 'large.bin' }))
    expect([head.ContentLength, head.ETag?.endsWith('-12"')]).toEqual([96 * mebibyte, true])
    expect(before.length).toBeGreaterThan(0)
    expect(await partsOf('large')).toEqual([])
  })

  /** The parts of the only upload in a bucket. */
  async function partsOf(Bucket: string): Promise<number[]> {
    const { Uploads = [] } = await visit.s3.send(new ListMultipartUploadsCommand({ Bucket }))
    const { Key, UploadId } = Uploads[0] ?? {}
    if (Key === undefined || UploadId === undefined) return []
    const { ListPartsCommand } = await import('@aws-sdk/client-s3')
    const { Parts = [] } = await visit.s3.send(new ListPartsCommand({ Bucket, Key, UploadId }))
    return Parts.map(({ PartNumber = 0 }) => PartNumber)
  }

  it('restores an older version, and an object that was deleted', async () => {
    await visit.createBucket('kept', { lock: true })
    await put('kept', 'note.txt', 'first')
    await put('kept', 'note.txt', 'second')
    await visit.openBucket('kept')
    await button('note.txt').click()
    await button(/Restore version/).click()
    await visit.page.getByText('current one again').waitFor()
    const read = async () =>
      (await visit.s3.send(new GetObjectCommand({ Bucket: 'kept', Key: 'note.txt' }))).Body?.transformToString()
    expect(await read()).toBe('first')

    const dialog = (name: string) => visit.page.getByRole('dialog', { name, exact: true })
    const asked = dialog('Delete note.txt?')
    await dialog('note.txt').getByRole('button', { name: 'Delete', exact: true }).click()
    await asked.getByRole('button', { name: 'Cancel' }).click()
    await asked.waitFor({ state: 'hidden' })
    expect(await read()).toBe('first')
    await dialog('note.txt').getByRole('button', { name: 'Delete', exact: true }).click()
    await asked.getByRole('button', { name: 'Delete', exact: true }).click()
    await expect.poll(() => read().catch((error: Error) => error.name)).toBe('NoSuchKey')
    await visit.page.getByLabel('Show versions').check()
    await button('note.txt').first().click()
    await button('Restore the object').click()
    await visit.page.getByText('The object is back.').waitFor()
    expect(await read()).toBe('first')

    const remove = button(/Delete version/)
    // The notice comes before the list without the delete marker.
    await expect.poll(() => remove.count()).toBe(3)
    await remove.first().click()
    await dialog('note.txt').waitFor()
    const question = visit.page.getByRole('dialog', { name: /^Delete version/ })
    await question.getByRole('button', { name: 'Delete', exact: true }).click()
    await expect.poll(() => remove.count()).toBe(2)
    await question.waitFor({ state: 'hidden' })
    expect(await read()).toBe('second')
  })

  it('locks a version, changes tags and metadata, previews, and shares', async () => {
    await visit.createBucket('locked', { lock: true })
    await put('locked', 'note.txt', 'a text to see')
    await visit.openBucket('locked')
    await button('note.txt').click()
    await button('Legal hold').click()
    await visit.page.getByText('The version is on hold.').waitFor()
    await button('Retain…').click()
    const retain = visit.page.getByRole('dialog', { name: 'Retain this version' })
    await retain.getByLabel('Until').fill('2099-01-01T00:00')
    await retain.getByRole('button', { name: 'Retain', exact: true }).click()
    await visit.page.getByText('Retention changed.').waitFor()
    const { Retention } = await visit.s3.send(new GetObjectRetentionCommand({ Bucket: 'locked', Key: 'note.txt' }))
    expect(Retention?.Mode).toBe('GOVERNANCE')

    await button('Change tags').click()
    const tags = visit.page.getByRole('dialog', { name: 'Change tags' })
    await tags.getByRole('button', { name: 'Add' }).click()
    await tags.getByLabel('Name 1').fill('team')
    await tags.getByLabel('Value 1').fill('red team')
    await tags.getByRole('button', { name: 'Save' }).click()
    await visit.page.getByRole('definition').filter({ hasText: 'red team' }).waitFor()

    await button(/Delete version/).click()
    const question = visit.page.getByRole('dialog', { name: /^Delete version/ })
    await question.getByRole('button', { name: 'Delete', exact: true }).click()
    await question.getByRole('alert').waitFor()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await visit.s3.send(new GetObjectRetentionCommand({ Bucket: 'locked', Key: 'note.txt' }))

    await button('Show text').click()
    await visit.page.getByText('a text to see').waitFor()

    await button('Share').click()
    const share = visit.page.getByRole('dialog', { name: 'Share' })
    await share.getByRole('button', { name: 'Make link' }).click()
    const link = share.getByLabel('Link')
    await link.waitFor()
    expect(await (await fetch(await link.inputValue())).text()).toBe('a text to see')
  })

  it('makes a user with a key that reaches one bucket only', async () => {
    await visit.createBucket('scoped')
    await put('scoped', 'mine.txt', 'x')
    await visit.page.goto(`${visit.ready.adminEndpoint}#/access/users`)
    await button('Create user').click()
    const create = visit.page.getByRole('dialog')
    await create.getByLabel('Name').fill('alice')
    await create.getByLabel('May do').selectOption('readwrite')
    await create.getByRole('button', { name: 'Create', exact: true }).click()
    await visit.page.getByText('Created alice.').waitFor()

    await visit.page.getByRole('link', { name: 'Keys' }).last().click()
    await button('Create key').click()
    const key = visit.page.getByRole('dialog')
    await key.getByLabel('Only for bucket').selectOption('scoped')
    await key.getByRole('button', { name: 'Create', exact: true }).click()
    const secret = visit.page.getByRole('dialog', { name: 'The secret is shown once' })
    const credentials = {
      accessKeyId: await secret.getByLabel('Access key').inputValue(),
      secretAccessKey: await secret.getByLabel('Secret key').inputValue(),
    }
    const alice = visit.clientOf(credentials)
    expect((await alice.send(new ListObjectsV2Command({ Bucket: 'scoped' }))).KeyCount).toBe(1)
    await expect(alice.send(new ListObjectsV2Command({ Bucket: 'locked' }))).rejects.toThrow(
      'not authorized to perform',
    )

    // The console of that user shows no machine room.
    await secret.getByRole('button', { name: 'Done' }).click()
    await button('Log out').click()
    await visit.logIn(credentials)
    expect(await visit.page.getByRole('link', { name: 'Machine room' }).count()).toBe(0)
    expect(await visit.page.getByRole('link', { name: 'Access' }).count()).toBe(0)
  })

  it('shuts a user out and lets it in again, and gives and takes its policies, one of its own among them', async () => {
    await visit.createBucket('owned')
    await put('owned', 'note.txt', 'x')
    await visit.page.goto(`${visit.ready.adminEndpoint}#/access/users`)
    await button('Create user').click()
    const create = visit.page.getByRole('dialog')
    await create.getByLabel('Name').fill('bob')
    await create.getByRole('button', { name: 'Create', exact: true }).click()
    const bob = visit.page.getByRole('row').filter({ hasText: 'bob' })

    await bob.getByRole('button', { name: 'Write a policy for bob alone' }).click()
    const own = visit.page.getByRole('dialog', { name: 'A policy for bob alone' })
    await own.getByLabel('Name').fill('reads')
    const document = await own.getByLabel('Document').inputValue()
    await own.getByLabel('Document').fill(document.replaceAll('BUCKET', 'owned'))
    await own.getByRole('button', { name: 'Save' }).click()
    await bob.getByRole('button', { name: 'reads (own)' }).waitFor()

    await visit.page.goto(`${visit.ready.adminEndpoint}#/access/keys?user=bob`)
    await button('Create key').click()
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
    const secret = visit.page.getByRole('dialog', { name: 'The secret is shown once' })
    const client = visit.clientOf({
      accessKeyId: await secret.getByLabel('Access key').inputValue(),
      secretAccessKey: await secret.getByLabel('Secret key').inputValue(),
    })
    await secret.getByRole('button', { name: 'Done' }).click()
    const list = async () => (await client.send(new ListObjectsV2Command({ Bucket: 'owned' }))).KeyCount
    expect(await list()).toBe(1)

    await visit.page.goto(`${visit.ready.adminEndpoint}#/access/users`)
    await bob.getByRole('button', { name: 'Enabled' }).click()
    await bob.getByRole('button', { name: 'Disabled' }).waitFor()
    await expect(list()).rejects.toThrow()
    await bob.getByRole('button', { name: 'Disabled' }).click()
    await bob.getByRole('button', { name: 'Enabled' }).waitFor()
    await bob.getByLabel('Give bob a policy').selectOption('writeonly')
    await bob.getByRole('button', { name: 'Take writeonly from bob' }).waitFor()
    await bob.getByRole('button', { name: 'Take reads from bob' }).click()
    await expect.poll(() => bob.getByRole('button', { name: 'reads (own)' }).count()).toBe(0)
    await expect(list()).rejects.toThrow('not authorized to perform')
    await client.send(new PutObjectCommand({ Bucket: 'owned', Key: 'new.txt', Body: 'x' }))
  })

  it('edits the policy of a bucket, refuses a wrong one, and explains it', async () => {
    await visit.createBucket('policies')
    await put('policies', 'page.html', '<h1>all</h1>')
    await visit.openBucket('policies', 'settings')
    const policy = visit.page.getByRole('region', { name: 'Policy' })
    await policy.getByLabel('Document').fill('{"Statement": 1}')
    await policy.getByRole('button', { name: 'Save' }).click()
    await policy.getByRole('alert').waitFor()
    await policy.getByRole('button', { name: 'Let everybody read' }).click()
    await policy.getByRole('button', { name: 'Save' }).click()
    await visit.page.getByText('Saved.').waitFor()
    expect((await fetch(`${visit.ready.endpoint}/policies/page.html`)).status).toBe(200)

    await policy.getByRole('button', { name: 'Explain…' }).click()
    const explain = visit.page.getByRole('dialog', { name: 'Explain access' })
    await explain.getByLabel('Resource').fill('policies/page.html')
    await explain.getByRole('button', { name: 'Explain' }).click()
    await explain.getByText('Allowed').waitFor()
  })

  it('shows names and metadata that are markup as text', async () => {
    const hostile = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'`
    await visit.createBucket('hostile')
    await visit.s3.send(
      new PutObjectCommand({ Bucket: 'hostile', Key: hostile, Body: 'x', Metadata: { note: '<script>1</script>' } }),
    )
    await visit.openBucket('hostile')
    await button(hostile).click()
    await visit.page.getByText('<script>1</script>').waitFor()
    expect(await visit.page.title()).toBe('Holdfast')
    expect(complaints).toEqual([])
  })

  it('works by the keyboard alone', async () => {
    await visit.createBucket('keyboard')
    for (const name of ['a', 'b', 'c']) await put('keyboard', `${name}.txt`, name)
    await visit.openBucket('keyboard')
    await visit.page.getByRole('grid', { name: 'Objects' }).focus()
    await visit.page.keyboard.press('ArrowDown')
    await visit.page.keyboard.press('Space')
    await visit.page.getByText('1 selected').waitFor()
    await visit.page.keyboard.press('Enter')
    await visit.page.getByRole('dialog', { name: 'b.txt' }).waitFor()
    await visit.page.keyboard.press('Escape')
    await expect.poll(() => visit.page.getByRole('dialog').count()).toBe(0)
  })
})
