/** The parts of the machine room that show how the server is: load, requests, configuration, log level, members. */
import { GetObjectCommand, ListBucketsCommand } from '@aws-sdk/client-s3'
import type { Locator } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInstalled } from '../support/installed.ts'
import { visitConsole } from './console-visit.ts'

describeInstalled('the machine room', [['chromium', '--version']], () => {
  const visit = visitConsole()
  const { put, complaints } = visit

  const chart = (title: string): Locator =>
    visit.page.getByRole('region', { name: title, exact: true }).getByRole('img')
  const highest = async (title: string): Promise<number> =>
    Number(/at most ([\d.]+)/.exec((await chart(title).getAttribute('aria-label')) ?? '')?.[1])

  it('draws requests as they come, and that they have ended', async () => {
    await visit.open('machine/load', 'Machine room')
    await chart('Requests a second').waitFor()
    const ask = () => visit.s3.send(new ListBucketsCommand({}))
    // The page may be connected only now.
    await expect.poll(async () => ask().then(() => highest('Requests a second'))).toBeGreaterThan(0)
    await expect(visit.s3.send(new GetObjectCommand({ Bucket: 'none', Key: 'x' }))).rejects.toThrow()
    await expect.poll(() => highest('Failed a second')).toBeGreaterThan(0)
    await chart('Requests a second').and(visit.page.getByLabel('0 now, at most')).waitFor()
  })

  it('draws how busy the server is', async () => {
    await visit.open('machine/load', 'Machine room')
    await expect.poll(() => highest('Memory')).toBeGreaterThan(0)
    await expect.poll(() => highest('Processors in use')).toBeGreaterThan(0)
    for (const title of ['Event loop late', 'Blobs waiting for repair', 'Garbage waiting to be removed']) {
      await chart(title).waitFor()
    }
    expect(complaints).toEqual([])
  })

  it('lists requests as they come, those that failed apart', async () => {
    await visit.createBucket('logged')
    await visit.open('machine/requests', 'Machine room')
    const row = (text: string): Locator => visit.page.getByRole('row').filter({ hasText: text })
    // The page may be connected only now.
    await expect
      .poll(async () => {
        await put('logged', 'seen.txt', 'x')
        return row('/logged/seen.txt').count()
      })
      .toBeGreaterThan(0)
    await expect(visit.s3.send(new GetObjectCommand({ Bucket: 'logged', Key: 'missing.txt' }))).rejects.toThrow()
    await row('NoSuchKey').filter({ hasText: '/logged/missing.txt' }).first().waitFor()
    await visit.page.getByLabel('Only failed requests').check()
    await expect.poll(() => row('/logged/seen.txt').count()).toBe(0)
    await row('/logged/missing.txt').first().waitFor()
  })

  it('shows the configuration as it counts, without the secret, and changes the level of the log', async () => {
    await visit.open('machine/configuration', 'Machine room')
    const listen = visit.page.getByRole('row').filter({ has: visit.page.getByText('listen', { exact: true }) })
    await listen.getByText('127.0.0.1').waitFor()
    expect(await visit.page.getByRole('main').textContent()).not.toContain('canary')
    await visit.page.getByLabel('Log level').selectOption('debug')
    await visit.page.getByText('The log level holds').waitFor()
    await visit.page.reload()
    await expect.poll(() => visit.page.getByLabel('Log level').inputValue()).toBe('debug')
  })

  it('shows which server this is', async () => {
    await visit.open('machine/members', 'Machine room')
    await visit.page
      .getByRole('definition')
      .filter({ hasText: visit.ready.endpoint ?? '' })
      .waitFor()
    await visit.page.getByText('No other server shares the metadata of this one.').waitFor()
  })
})
