/** That all parts of a process which ask for the sites of its configuration get the same, with the same connections. */
import { expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { openSites } from '../../src/opening/sites.ts'
import type { SiteSettings } from '../../src/replication-site.ts'

const site: SiteSettings = {
  name: 'paris',
  endpoint: 'http://127.0.0.1:1',
  region: 'us-east-1',
  accessKeyId: 'key',
  secretAccessKey: 'canary-secret-of-a-site',
  accounts: ['main'],
}

it('opens the sites of a configuration once', async () => {
  const settings = [site]
  const [first, second] = await Promise.all([openSites(settings, systemClock), openSites(settings, systemClock)])
  expect(first.get('paris')).toBeDefined()
  expect(second).toBe(first)
  expect(await openSites(settings, systemClock)).toBe(first)
})

it('opens those of another configuration, or for another clock, by themselves', async () => {
  const settings = [site]
  const first = await openSites(settings, systemClock)
  expect(await openSites([site], systemClock)).not.toBe(first)
  expect(await openSites(settings, { ...systemClock })).not.toBe(first)
})
