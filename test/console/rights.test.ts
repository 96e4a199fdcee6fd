/** What the console offers to users who may do little: what they may do, and nothing that the server would refuse. */
import { expect, it } from 'vitest'
import type { environmentKey } from '../cli/holdfast-process.ts'
import { describeInstalled } from '../support/installed.ts'
import { visitConsole } from './console-visit.ts'

type Key = typeof environmentKey

describeInstalled('the console of a user', [['chromium', '--version']], () => {
  const visit = visitConsole()
  const { button, put } = visit

  /** As the page itself asks: with its session. */
  const asAdministrator = (method: string, path: string, input?: object): Promise<unknown> =>
    visit.page.evaluate(
      async ([how, where, body]) => {
        const { csrfToken } = (await (await fetch('/v1/session')).json()) as { csrfToken: string }
        const headers = { 'x-csrf-token': csrfToken, 'content-type': 'application/json' }
        const answer = await fetch(where, { method: how, headers, ...(body === undefined ? {} : { body }) })
        return answer.json()
      },
      [method, path, input && JSON.stringify(input)] as const,
    )

  /** A user with these statements of a policy, who is logged in now. */
  async function become(name: string, ...Statement: readonly object[]): Promise<void> {
    const account = '/v1/accounts/main'
    await asAdministrator('POST', `${account}/users`, { name })
    const document = { Version: '2012-10-17', Statement }
    await asAdministrator('PUT', `${account}/users/${name}/inline-policies/own`, { document })
    const key = (await asAdministrator('POST', `${account}/keys`, { user: name })) as Key
    await visit.page.goto(`${visit.ready.adminEndpoint}#/buckets`)
    await button('Log out').click()
    await visit.logIn({ accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey })
  }

  const allow = (Action: readonly string[], Resource: string | readonly string[] = '*') => ({
    Effect: 'Allow',
    Action,
    Resource,
  })
  const shown = async (...names: readonly (string | RegExp)[]): Promise<boolean[]> =>
    Promise.all(names.map(async (name) => (await button(name).count()) > 0))

  it('who may only read has nothing to change: no bucket, no object, no setting', async () => {
    await visit.createBucket('read', { lock: true })
    await put('read', 'note.txt', 'first')
    await put('read', 'note.txt', 'second')
    await become('reader', allow(['s3:Get*', 's3:List*']))
    await visit.page.getByRole('link', { name: 'read', exact: true }).waitFor()
    expect(await shown('Create bucket', 'Delete read')).toEqual([false, false])

    await visit.openBucket('read')
    await button('Download').waitFor()
    expect(await shown('Upload files', 'Upload a folder', 'Delete')).toEqual([false, false, false])
    await button('note.txt').click()
    const window = visit.page.getByRole('dialog', { name: 'note.txt' })
    await window.getByRole('button', { name: 'Share' }).waitFor()
    await window.getByRole('table', { name: 'Versions' }).waitFor()
    await window.getByRole('button', { name: 'Legal hold' }).waitFor()
    expect(await shown('Delete', 'Change', 'Change tags', /^Restore version/, /^Delete version/)).toEqual(
      Array(5).fill(false),
    )
    expect(await window.getByRole('button', { name: 'Legal hold' }).isDisabled()).toBe(true)

    await visit.openBucket('read', 'settings')
    await visit.page.getByRole('region', { name: 'Website' }).getByLabel('Index document').waitFor()
    expect(await shown('Save', 'Turn on', 'Suspend', 'Remove')).toEqual(Array(4).fill(false))
    expect(await visit.page.getByLabel('Index document').isDisabled()).toBe(true)
  })

  it('who may write below one prefix uploads there, and nowhere else', async () => {
    await visit.createBucket('shared')
    await put('shared', 'home/ann/one.txt', 'x')
    await become(
      'ann',
      allow(['s3:ListAllMyBuckets', 's3:ListBucket', 's3:GetObject']),
      allow(['s3:PutObject'], 'arn:aws:s3:::shared/home/ann/*'),
    )
    await visit.openBucket('shared')
    await button('Download').waitFor()
    expect(await visit.page.locator('input[data-chooses=files]').count()).toBe(0)
    await visit.page.goto(`${visit.ready.adminEndpoint}#/bucket/shared/objects?folder=home%2Fann%2F`)
    await visit.page.locator('input[data-chooses=files]').waitFor({ state: 'attached' })
    expect(await shown('Delete')).toEqual([false])
  })

  it('who may watch tasks finds them in the machine room, and starts none', async () => {
    await become('watcher', allow(['s3:ListAllMyBuckets', 'admin:ListTasks']))
    await visit.page.getByRole('link', { name: 'Machine room' }).click()
    await visit.page.getByRole('heading', { name: 'Machine room' }).waitFor()
    const tabs = visit.page.getByRole('navigation', { name: 'Parts of the machine room' }).getByRole('link')
    expect(await tabs.allInnerTexts()).toEqual(['Tasks'])
    expect(await shown('Scrub', 'Repair')).toEqual([false, false])
  })

  it('who may look at policies changes none of them', async () => {
    await asAdministrator('PUT', '/v1/accounts/main/policies/plain', {
      document: { Version: '2012-10-17', Statement: [allow(['s3:GetObject'])] },
    })
    await become('auditor', allow(['s3:ListAllMyBuckets', 'admin:ListPolicies', 'admin:GetPolicy']))
    await visit.page.getByRole('link', { name: 'Access' }).click()
    const tabs = visit.page.getByRole('navigation', { name: 'Kinds of identities' }).getByRole('link')
    await tabs.first().waitFor()
    expect(await tabs.allInnerTexts()).toEqual(['Policies'])
    await button('plain').click()
    await visit.page.getByRole('dialog', { name: 'plain' }).getByRole('button', { name: 'Close' }).last().waitFor()
    expect(await shown('Save', 'Create policy', 'Delete plain')).toEqual([false, false, false])
  })
})
