/** A bucket of many keys in the browser: only the rows in view exist, the end can be reached, and a prefix finds one key among all. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { environmentKey } from '../cli/holdfast-process.ts'
import { describeInstalled } from '../support/installed.ts'
import { cloneObject, putFirst } from '../support/many-objects.ts'
import { type ConsoleVisit, visitConsole } from './console-visit.ts'

const count = 20_000
/** The rows of a high window, and the spare rows. */
const rowsMax = 80
const name = (number: number): string => `key-${String(number).padStart(6, '0')}`

async function startOnManyKeys(visit: ConsoleVisit): Promise<void> {
  const data = join(visit.folder, 'data')
  await visit.startServer(['--data', data])
  const server = { endpoint: visit.ready.endpoint, credentials: environmentKey }
  await putFirst(server, { bucket: 'many', key: name(0) })
  visit.server?.child.kill('SIGTERM')
  await visit.server?.ended
  await cloneObject(data, { bucket: 'many', key: name(0), count, name })
  await visit.startServer(['--data', data])
}

describeInstalled('a bucket of 20,000 keys', [['chromium', '--version']], () => {
  const visit = visitConsole(startOnManyKeys)
  const { button } = visit
  const rows = () => visit.page.locator('.virtual-rows .row').count()

  it('scrolls to its end with a bounded number of rows', async () => {
    await visit.openBucket('many')
    const grid = visit.page.getByRole('grid', { name: 'Objects' })
    await grid.focus()
    const loaded = async (): Promise<number> => Number(await grid.getAttribute('aria-rowcount'))
    for (let before = 0; before < count; ) {
      await expect.poll(loaded).toBeGreaterThan(before)
      before = await loaded()
      expect(await rows()).toBeLessThan(rowsMax)
      await visit.page.keyboard.press('End')
    }
    await button(name(count - 1)).waitFor()
    expect(await loaded()).toBe(count)
    expect(await rows()).toBeLessThan(rowsMax)

    await grid.hover()
    await visit.page.mouse.wheel(0, -10_000 * 36)
    await button(name(10_000)).waitFor()
    expect(await rows()).toBeLessThan(rowsMax)
    await visit.page.keyboard.press('Home')
    await button(name(0)).waitFor()
  })

  it('finds a key by its prefix', async () => {
    await visit.openBucket('many')
    await visit.page.getByLabel('Find by prefix').fill('key-01234')
    await visit.page.getByText('10', { exact: true }).waitFor()
    expect(await visit.page.locator('.virtual-rows .name').allInnerTexts()).toEqual(
      Array.from({ length: 10 }, (_, i) => name(12_340 + i)),
    )
  })
})
