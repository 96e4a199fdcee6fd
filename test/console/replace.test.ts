/** A lost store in the machine room: somebody who looks only at the page sees, replaces and repairs it, until the location is whole. */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CreateBucketCommand, GetObjectCommand } from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { describeInstalled } from '../support/installed.ts'
import { patternBytes } from '../support/seeded.ts'
import { type ConsoleVisit, visitConsole } from './console-visit.ts'

const objects = 12
const bytesOf = (number: number): Buffer => patternBytes(number, 300_000)

/** Keeps two copies of everything, over three directories. */
async function startOnThreeDisks(visit: ConsoleVisit): Promise<void> {
  const disks = ['disk1', 'disk2', 'disk3'].map((name) => `[stores.${name}]\ntype = "directory"\npath = "${name}"\n`)
  const location = '[locations.safe]\nscheme = "replica"\ncopies = 2\nstores = ["disk1", "disk2", "disk3"]\n'
  const config = join(visit.folder, 'holdfast.toml')
  await writeFile(config, `data = "data"\ndefaultLocation = "safe"\n${disks.join('')}${location}`)
  await visit.startServer(['--config', config])
}

describeInstalled('a store that is lost', [['chromium', '--version']], () => {
  const visit = visitConsole(startOnThreeDisks)
  const { button, put, complaints } = visit

  it('is shown and replaced, and the repair makes the location whole again', async () => {
    await visit.s3.send(new CreateBucketCommand({ Bucket: 'photos' }))
    for (let i = 0; i < objects; i++) await put('photos', `photo-${i}`, bytesOf(i))
    await visit.open('machine/stores', 'Machine room')
    const location = visit.page.getByRole('region', { name: 'Location safe' })
    const store = (name: string) => location.getByRole('group').filter({ hasText: name })
    await location.getByText('2 copies; survives the loss of 1 store.').waitFor()
    for (const name of ['disk1', 'disk2', 'disk3']) {
      await store(name).getByText('up', { exact: true }).waitFor()
      await store(name).getByRole('meter').waitFor()
    }
    const shardsIn = async (name: string): Promise<number> =>
      Number(
        await store(name)
          .getByRole('progressbar', { name: `Shards in ${name}` })
          .getAttribute('value'),
      )
    const shardsInAll = async (): Promise<number> => {
      const found = await Promise.all(['disk1', 'disk2', 'disk3'].map(shardsIn))
      return found.reduce((all, one) => all + one, 0)
    }
    // Snapshots of the metadata are on this store too.
    await expect.poll(shardsInAll).toBeGreaterThanOrEqual(2 * objects)
    const lying = await shardsIn('disk2')
    expect(lying).toBeGreaterThan(0)
    await store('disk2')
      .getByText(new RegExp(`^${lying} shards?, `))
      .waitFor()

    // The disk disappears under the running server. The server and the page notice by themselves.
    await rename(join(visit.folder, 'disk2'), join(visit.folder, 'lost'))
    await store('disk2').getByText('out', { exact: true }).waitFor()
    await location.getByText('AT RISK').waitFor()
    await location.getByText('survives the loss of 0 stores (of 1 when whole)').waitFor()
    expect(await location.getByRole('button', { name: 'Replace…' }).count()).toBe(1)

    // Without a new disk, the store can't be replaced, and the page says so.
    await store('disk2').getByRole('button', { name: 'Replace…' }).click()
    const dialog = visit.page.getByRole('dialog', { name: 'Replace disk2?' })
    await dialog.getByRole('button', { name: 'Replace', exact: true }).click()
    await dialog.getByRole('alert').filter({ hasText: 'disk2' }).waitFor()

    await mkdir(join(visit.folder, 'disk2'))
    await dialog.getByRole('button', { name: 'Replace', exact: true }).click()
    await visit.page.getByText(/disk2 is replaced\. [1-9]\d* blobs wait for repair\./).waitFor()
    await store('disk2').getByText('up', { exact: true }).waitFor()

    await button('Repair').click()
    await visit.page.getByRole('link', { name: 'Tasks' }).click()
    const repair = visit.page.getByRole('table', { name: 'Tasks' }).getByRole('row').filter({ hasText: 'repair' })
    await repair.getByText('done', { exact: true }).waitFor()
    await repair.getByText(/([\d.]+ [KM]iB) of \1 \(100 %\); repaired [1-9]\d*, degraded 0, lost 0/).waitFor()

    await visit.page.getByRole('link', { name: 'Stores and locations' }).click()
    await location.getByText('2 copies; survives the loss of 1 store.').waitFor()
    await location.getByText('OK', { exact: true }).waitFor()
    // They are counted again some seconds later.
    await expect.poll(() => shardsIn('disk2')).toBeGreaterThan(0)
    await expect.poll(shardsInAll).toBeGreaterThanOrEqual(2 * objects)
    expect(await location.getByRole('button', { name: 'Replace…' }).count()).toBe(0)
    expect(complaints).toEqual([])

    // What the page says is true: any one of the others may fail.
    await rename(join(visit.folder, 'disk1'), join(visit.folder, 'lost-too'))
    for (let i = 0; i < objects; i++) {
      const { Body } = await visit.s3.send(new GetObjectCommand({ Bucket: 'photos', Key: `photo-${i}` }))
      expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(bytesOf(i))).toBe(true)
    }
  })
})
