/** Hostile keys, metadata, documents, descriptions and paths in a real browser: each is shown as text, and nothing of it runs or is fetched. */
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { beforeEach, expect, it } from 'vitest'
import { hostileTexts } from '../support/hostile-texts.ts'
import { describeInstalled } from '../support/installed.ts'
import { visitConsole } from './console-visit.ts'

const seed = 20261124
const names = [...new Set(hostileTexts(seed, 500).map((text, i) => `${i} ${text}`))]
/** A browser can't ask for keys with segments of dots. */
const opened = names.filter((name) => !/(^|\/)(\.|%2e){1,2}(\/|%2f|$)/i.test(name)).filter((_, i) => i % 25 === 0)
/** Headers take only ASCII. */
const inHeader = (text: string): string => text.replace(/[^ -~]/gu, '?')
/** What a list shows for a key: the folder, if it is in one. */
const shownName = (key: string): string => /^[^/]*\/?/.exec(key)?.[0] ?? ''

describeInstalled(`hostile names in the console (seed ${seed})`, [['chromium', '--version']], () => {
  const visit = visitConsole(async (begun) => {
    await begun.startServer(['--data', `${begun.folder}/data`])
    await begun.s3.send(new CreateBucketCommand({ Bucket: 'hostile' }))
    for (const name of names) {
      const [Metadata, ContentType] = [{ note: inHeader(name) }, 'text/html']
      await begun.s3.send(new PutObjectCommand({ Bucket: 'hostile', Key: name, Body: name, Metadata, ContentType }))
    }
  })
  const asked = new Set<string>()
  beforeEach(async () => {
    asked.clear()
    visit.page.on('request', (request) => asked.add(new URL(request.url()).origin))
    visit.page.on('dialog', (dialog) => visit.complaints.push(`a dialog: ${dialog.message()}`))
    await visit.page.addInitScript('window.owned = () => { window.isOwned = true }')
  })

  /** Blocked scripts are reported too, and no attempt may get even that far. */
  async function expectHarmless(): Promise<void> {
    const found = await visit.page.evaluate(`({
      isOwned: window.isOwned ?? false,
      elements: [...document.querySelectorAll('img:not([src^="blob:"]), iframe, object, embed, base, style, script:not([src]), [srcdoc], [href^="javascript:"], [href^="data:"]')]
        .map((element) => element.outerHTML.slice(0, 100)),
      handlers: [...document.querySelectorAll('*')].flatMap(({ attributes }) =>
        [...attributes].filter(({ name }) => name.startsWith('on')).map(({ name, value }) => name + '=' + value)),
    })`)
    expect(found).toEqual({ isOwned: false, elements: [], handlers: [] })
    expect(visit.complaints).toEqual([])
    const own = [visit.ready.adminEndpoint, visit.ready.endpoint].map((url) => new URL(url ?? '').origin)
    expect([...asked].filter((origin) => !own.includes(origin) && origin !== 'null')).toEqual([])
  }

  it('500 keys are listed as they are', async () => {
    await visit.openBucket('hostile')
    const grid = visit.page.getByRole('grid', { name: 'Objects' })
    await grid.focus()
    const seen = new Set<string>()
    const expected = new Set(names.map(shownName))
    const collect = async (): Promise<number> => {
      for (const text of await grid.locator('.row .name button').allTextContents()) seen.add(text)
      return seen.size
    }
    for (let left = expected.size; left > 0 && (await collect()) < expected.size; left--) {
      await visit.page.keyboard.press('PageDown')
      await visit.page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    }
    expect([...expected].filter((name) => !seen.has(name))).toEqual([])
    await expectHarmless()
  })

  it('objects with hostile metadata and documents are shown as text', async () => {
    for (const name of opened) {
      await visit.page.goto(`${visit.ready.adminEndpoint}#/bucket/hostile/objects?object=${encodeURIComponent(name)}`)
      await visit.page.reload()
      const window = visit.page.getByRole('dialog')
      await window.getByText(inHeader(name), { exact: true }).first().waitFor()
      await window.getByRole('button', { name: 'Show text', exact: true }).click()
      await expect.poll(() => window.locator('pre').first().textContent()).toBe(name)
      await window.getByRole('button', { name: 'Share', exact: true }).click()
      await visit.page.getByRole('button', { name: 'Make link', exact: true }).click()
      await expectHarmless()
    }
  })

  it('paths of requests, descriptions of keys and folders are shown as text', async () => {
    await visit.open('machine/requests', 'Machine room')
    for (const name of opened) {
      await visit.s3.send(new GetObjectCommand({ Bucket: 'hostile', Key: name }))
      await visit.page
        .getByText(name.split(' ')[0] ?? '')
        .first()
        .waitFor()
    }
    await expectHarmless()
    await visit.open('access/keys', 'Access')
    for (const name of opened.slice(0, 5)) {
      await visit.page.getByRole('button', { name: 'Create key', exact: true }).click()
      const dialog = visit.page.getByRole('dialog')
      await dialog.getByLabel('Description').fill(inHeader(name))
      await dialog.getByRole('button', { name: 'Create', exact: true }).click()
      const secret = visit.page.getByRole('dialog', { name: 'The secret is shown once' })
      await secret.getByRole('button', { name: 'Done', exact: true }).click()
      await visit.page.getByText(inHeader(name), { exact: true }).first().waitFor()
    }
    await expectHarmless()
    for (const name of names.filter((key) => key.includes('/')).slice(0, 10)) {
      const folder = shownName(name)
      await visit.page.goto(`${visit.ready.adminEndpoint}#/bucket/hostile/objects?folder=${encodeURIComponent(folder)}`)
      await visit.page.reload()
      await visit.page.getByRole('grid', { name: 'Objects' }).locator('.row .name button').first().waitFor()
      await expectHarmless()
    }
  })
})
