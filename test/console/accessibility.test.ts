/** Every view of the console for people who see colours, type, listen, or hold a phone: contrast in both themes, names, focus, width. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  CreateBucketCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutObjectTaggingCommand,
} from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { describeInstalled } from '../support/installed.ts'
import { type ConsoleVisit, visitConsole } from './console-visit.ts'

const inPage = fileURLToPath(new URL('in-page.js', import.meta.url))

interface View {
  name: string
  /** The part of the URL after `#/`. */
  place: string
  /** Buttons to press one after the other to get there. */
  presses?: readonly string[]
}

const longKey = `a-folder/${'a-long-name-'.repeat(12)}.txt`
const views: readonly View[] = [
  { name: 'buckets', place: 'buckets' },
  { name: 'a new bucket', place: 'buckets', presses: ['Create bucket'] },
  { name: 'a bucket to delete', place: 'buckets', presses: ['Delete kept'] },
  { name: 'objects', place: 'bucket/kept/objects' },
  { name: 'no object', place: 'bucket/empty/objects' },
  { name: 'versions', place: 'bucket/kept/objects?versions=1' },
  { name: 'an object', place: 'bucket/kept/objects?object=note.txt' },
  { name: 'an object with a long key', place: `bucket/kept/objects?object=${encodeURIComponent(longKey)}` },
  { name: 'tags', place: 'bucket/kept/objects?object=note.txt', presses: ['Change tags', 'Add'] },
  { name: 'metadata', place: 'bucket/kept/objects?object=note.txt', presses: ['Change'] },
  { name: 'a link', place: 'bucket/kept/objects?object=note.txt', presses: ['Share', 'Make link'] },
  { name: 'a retention', place: 'bucket/kept/objects?object=note.txt', presses: ['Retain…'] },
  { name: 'a preview', place: 'bucket/kept/objects?object=note.txt', presses: ['Show text'] },
  { name: 'settings', place: 'bucket/kept/settings' },
  { name: 'an explanation', place: 'bucket/kept/settings', presses: ['Explain…', 'Explain'] },
  { name: 'users', place: 'access/users' },
  { name: 'a new user', place: 'access/users', presses: ['Create user'] },
  { name: 'keys', place: 'access/keys' },
  { name: 'a new key', place: 'access/keys', presses: ['Create key'] },
  { name: 'policies', place: 'access/policies' },
  { name: 'a policy', place: 'access/policies', presses: ['readonly'] },
  { name: 'stores', place: 'machine/stores' },
  { name: 'tasks', place: 'machine/tasks' },
  { name: 'load', place: 'machine/load' },
  { name: 'requests', place: 'machine/requests' },
  { name: 'members', place: 'machine/members' },
  { name: 'the configuration', place: 'machine/configuration' },
]

async function fill({ s3, put }: ConsoleVisit): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket: 'empty' }))
  await s3.send(new CreateBucketCommand({ Bucket: 'kept', ObjectLockEnabledForBucket: true }))
  for (const text of ['first', 'second']) await put('kept', 'note.txt', text)
  await put('kept', longKey, 'x')
  const TagSet = [{ Key: 'team', Value: 'red team' }]
  await s3.send(new PutObjectTaggingCommand({ Bucket: 'kept', Key: 'note.txt', Tagging: { TagSet } }))
  await s3.send(new PutBucketTaggingCommand({ Bucket: 'kept', Tagging: { TagSet } }))
  const Statement = [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::kept/*' }]
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
  await s3.send(new PutBucketPolicyCommand({ Bucket: 'kept', Policy }))
}

/** What assistive programs may offer to press, fill in or choose. */
const namedRoles =
  /^(button|link|textbox|searchbox|combobox|checkbox|switch|radio|spinbutton|slider|Date|DateTime|InputTime|dialog|grid|table|meter|progressbar|image|navigation)$/i

interface Focused {
  name: string
  isShown: boolean
  isInDialog: boolean
}

describeInstalled('the console for everybody', [['chromium', '--version']], () => {
  const visit = visitConsole(async (begun) => {
    await begun.startServer(['--data', join(begun.folder, 'data')])
    await fill(begun)
  })

  const ask = <T>(question: string): Promise<T> => visit.page.evaluate(`inspect.${question}()`)
  const focused = () => ask<Focused | undefined>('focused')

  async function show({ place, presses = [] }: View): Promise<void> {
    await visit.page.goto(`${visit.ready.adminEndpoint}#/${place}`)
    await visit.page.reload()
    await visit.page.getByRole('heading', { level: 1 }).waitFor()
    await settle()
    for (const name of presses) {
      await visit.page.getByRole('button', { name, exact: true }).last().click()
      await settle()
    }
  }

  /** Resolves when nothing is loading any more. */
  const settle = async (): Promise<void> => {
    await expect.poll(() => visit.page.locator('.loading, [aria-busy=true]').count()).toBe(0)
  }

  async function openPage(options: Parameters<ConsoleVisit['openPage']>[0]): Promise<void> {
    await visit.closePage()
    await visit.openPage({ reducedMotion: 'reduce', ...options })
    await visit.page.addInitScript({ path: inPage })
  }

  const looks = {
    async light() {
      await visit.page.emulateMedia({ colorScheme: 'light' })
      return ask<string[]>('weakColours')
    },
    async dark() {
      await visit.page.emulateMedia({ colorScheme: 'dark' })
      return ask<string[]>('weakColours')
    },
    async names() {
      const devTools = await visit.page.context().newCDPSession(visit.page)
      const { nodes } = await devTools.send('Accessibility.getFullAXTree')
      await devTools.detach()
      const isNameless = ({ ignored, role, name }: (typeof nodes)[number]): boolean =>
        !ignored && namedRoles.test(String(role?.value)) && String(name?.value ?? '').trim() === ''
      return nodes.filter(isNameless).map(({ role, backendDOMNodeId }) => `${role?.value}, node ${backendDOMNodeId}`)
    },
    async focus(): Promise<string[]> {
      const asked = await ask<string[]>('controls')
      const left = new Set(asked)
      const hidden: string[] = []
      // Each part of a time input is a stop of its own.
      for (let presses = asked.length * 2 + 10; presses > 0 && left.size > 0; presses--) {
        await visit.page.keyboard.press('Tab')
        const at = await focused()
        if (at !== undefined && left.delete(at.name) && !at.isShown) hidden.push(`not seen on ${at.name}`)
      }
      const found = [...hidden, ...[...left].map((name) => `does not come to ${name}`)]
      // Controls of the machine room appear, disappear or rest while the machine works.
      const isOther = found.length > 0 && String(await ask<string[]>('controls')) !== String(asked)
      return isOther ? looks.focus() : found
    },
    async width() {
      const before = visit.page.viewportSize()
      await visit.page.setViewportSize({ width: 360, height: 740 })
      const wide = await ask<string[]>('tooWide')
      if (before !== null) await visit.page.setViewportSize(before)
      return wide
    },
  }
  type Look = keyof typeof looks
  const kinds: readonly Look[] = ['light', 'dark', 'names', 'focus', 'width']

  /** Everything that is wrong, with the view where it was found. Visits every view once. */
  let found: Promise<Record<Look, string[]>> | undefined
  async function lookAtEachView(): Promise<Record<Look, string[]>> {
    await openPage({})
    const wrong: Record<Look, string[]> = { light: [], dark: [], names: [], focus: [], width: [] }
    for (const view of views) {
      await show(view)
      for (const kind of kinds) wrong[kind].push(...(await looks[kind]()).map((each) => `${view.name}: ${each}`))
    }
    return wrong
  }

  it.each([
    ['text, hints and fields stand out in the light theme', 'light'],
    ['text, hints and fields stand out in the dark theme', 'dark'],
    ['everything that can be used has a name', 'names'],
    ['Tab comes to every control, and one sees where it is', 'focus'],
    ['nothing is wider than a phone', 'width'],
  ] as const)('in every view, %s', { timeout: 600_000 }, async (_, kind) => {
    found ??= lookAtEachView()
    const wrong = (await found)[kind]
    expect(wrong, wrong.join('; ')).toEqual([])
  })

  it.each([
    ['buckets', 'Create bucket', 'Cancel'],
    ['buckets', 'Delete kept', 'Close'],
    ['access/users', 'Create user', 'Escape'],
    ['access/policies', 'readonly', 'Cancel'],
    ['bucket/kept/settings', 'Explain…', 'Escape'],
  ])('a dialog of %s keeps the focus, and gives it back to “%s” after %s', async (place, opener, way) => {
    await openPage({})
    await show({ name: '', place })
    const button = visit.page.getByRole('button', { name: opener, exact: true })
    await button.focus()
    await visit.page.keyboard.press('Enter')
    const dialog = visit.page.getByRole('dialog')
    await dialog.waitFor()
    await settle()
    const controls = await ask<string[]>('controls')
    for (let i = 0; i < controls.length * 2; i++) {
      const at = await focused()
      // Between the last control and the first, the focus goes through the browser's own controls.
      expect(at?.isInDialog ?? true, at?.name).toBe(true)
      await visit.page.keyboard.press('Tab')
    }
    if (way === 'Escape') await visit.page.keyboard.press('Escape')
    else await dialog.getByRole('button', { name: way, exact: true }).press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await button.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
  })

  it.each([
    ['buckets', 'Create bucket', 'Name'],
    ['access/users', 'Create user', 'Name'],
    ['access/policies', 'Create policy', 'Name'],
    ['access/keys', 'Create key', 'Owner'],
  ])(
    'a form of %s begins with the focus in its first field, so that one can type: “%s”',
    async (place, opener, field) => {
      await openPage({})
      await show({ name: '', place, presses: [opener] })
      expect(await visit.page.evaluate('document.activeElement.labels[0].textContent')).toBe(field)
      expect(await focused()).toMatchObject({ isInDialog: true })
    },
  )

  it('a dialog whose opener is gone gives the focus to the content', async () => {
    await openPage({})
    await show({ name: '', place: 'bucket/kept/objects?object=note.txt' })
    await visit.page.keyboard.press('Escape')
    await visit.page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(focused).toMatchObject({ isInDialog: false })
  })

  it('the log-in stands out, is named, and fits a phone', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await openPage({ colorScheme, viewport: { width: 360, height: 740 } })
      await visit.button('Log out').click()
      await visit.page.getByLabel('Access key').waitFor()
      await visit.page.reload()
      await visit.page.getByLabel('Secret key').fill('wrong')
      await visit.page.getByLabel('Access key').fill('wrong')
      await visit.button('Log in').click()
      await visit.page.getByRole('alert').waitFor()
      expect([await ask('weakColours'), await ask('tooWide')]).toEqual([[], []])
    }
  })
})
