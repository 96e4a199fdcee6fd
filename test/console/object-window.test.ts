/** The window of an object after a change that was made in it: every part of it shows the change. */
import { expect, it } from 'vitest'
import { describeInstalled } from '../support/installed.ts'
import { visitConsole } from './console-visit.ts'

describeInstalled('the window of an object', [['chromium', '--version']], () => {
  const visit = visitConsole()

  it('shows a new version that was made in it, in its list and in its facts', async () => {
    await visit.createBucket('shown', { lock: true })
    const { VersionId } = await visit.put('shown', 'note.txt', 'first')
    await visit.put('shown', 'note.txt', 'the second')
    await visit.open(`bucket/shown/objects?object=note.txt&version=${VersionId}`, 'shown')
    const window = visit.page.getByRole('dialog', { name: 'note.txt', exact: true })
    const versions = () =>
      window
        .getByRole('table', { name: 'Versions' })
        .getByRole('button', { name: /^Delete/ })
        .count()
    await expect.poll(versions).toBe(2)
    await window.getByRole('button', { name: 'Restore', exact: true }).click()
    await expect.poll(versions).toBe(3)

    await visit.open('bucket/shown/objects?object=note.txt', 'shown')
    const size = window.getByRole('definition').filter({ hasText: 'bytes)' })
    await size.filter({ hasText: '(5 bytes)' }).waitFor()
    await window
      .getByRole('button', { name: /^Restore version/ })
      .first()
      .click()
    await size.filter({ hasText: '(10 bytes)' }).waitFor()
    await window.getByRole('button', { name: 'Change', exact: true }).click()
    await visit.page.getByRole('dialog', { name: 'Change metadata' }).getByRole('button', { name: 'Save' }).click()
    await expect.poll(versions).toBe(5)
  })
})
