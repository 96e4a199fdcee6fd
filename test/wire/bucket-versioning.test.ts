/** PutBucketVersioning and GetBucketVersioning over the wire. */
import { GetBucketVersioningCommand, PutBucketVersioningCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { documentRows, putDocument } from '../support/wire-documents.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { enabled, history, leaves, ownerRows, suspended, vault } from '../support/wire-versions.ts'

const query = { versioning: '' }
const get = { method: 'GET', query } as const
const put = (inner: string) => putDocument(query, `<VersioningConfiguration>${inner}</VersioningConfiguration>`)
const on = put('<Status>Enabled</Status>')
const off = put('<Status>Suspended</Status>')
const throughSdk = (Status: 'Enabled' | 'Suspended') =>
  sdk(PutBucketVersioningCommand, { Bucket: 'wire', VersioningConfiguration: { Status } })

const is = (status: 'Enabled' | 'Suspended' | undefined) => async (wire: Wire) => {
  const { body } = await wire.must(get)
  expect(/<Status>(\w+)<\/Status>/.exec(body.toString())?.[1]).toBe(status)
}

const turned: Row[] = [
  {
    it: 'turns versioning on',
    proves: ['element:VersioningConfiguration/Status'],
    status: 200,
    ask: on,
    headers: { 'Content-Length': '0' },
    vendor: {},
    body: '',
    afterwards: is('Enabled'),
    sdk: throughSdk('Enabled'),
  },
  { it: 'turns it on where it is on', status: 200, given: enabled, ask: on, afterwards: is('Enabled') },
  {
    it: 'suspends it',
    proves: ['element:VersioningConfiguration/Status'],
    status: 200,
    given: enabled,
    ask: off,
    afterwards: is('Suspended'),
    sdk: throughSdk('Suspended'),
  },
  { it: 'suspends it where it never was on', status: 200, ask: off, afterwards: is('Suspended') },
  { it: 'turns it on again', status: 200, given: suspended, ask: on, afterwards: is('Enabled') },
  {
    it: 'keeps all versions when it is suspended',
    proves: ['element:VersioningConfiguration/Status'],
    status: 200,
    given: history,
    ask: off,
    afterwards: leaves('v2*', 'v1', 'null'),
  },
  {
    it: 'accepts that MFA delete is to stay off',
    proves: ['element:VersioningConfiguration/MfaDelete'],
    status: 200,
    ask: put('<Status>Enabled</Status><MfaDelete>Disabled</MfaDelete>'),
    afterwards: is('Enabled'),
  },
  {
    it: 'accepts the namespace of S3',
    status: 200,
    ask: putDocument(
      query,
      '<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>Enabled</Status></VersioningConfiguration>',
    ),
    afterwards: is('Enabled'),
  },
  {
    it: 'turns it on where Object Lock has it on',
    status: 200,
    given: (wire) => vault(wire),
    ask: on,
    afterwards: is('Enabled'),
  },
]

const refused: Row[] = [
  {
    it: 'refuses to suspend it in a bucket with Object Lock',
    ...refusal('InvalidBucketState', {}),
    given: (wire) => vault(wire),
    ask: off,
    afterwards: is('Enabled'),
    sdk: throughSdk('Suspended'),
  },
  {
    it: 'refuses MFA delete by name',
    proves: ['element:VersioningConfiguration/MfaDelete'],
    ...refusal('NotImplemented', { NotImplemented: 'VersioningConfiguration/MfaDelete' }),
    ask: put('<Status>Enabled</Status><MfaDelete>Enabled</MfaDelete>'),
    afterwards: is(undefined),
    sdk: sdk(PutBucketVersioningCommand, {
      Bucket: 'wire',
      VersioningConfiguration: { Status: 'Enabled', MFADelete: 'Enabled' },
    }),
  },
  {
    it: 'refuses an authentication device by name',
    ...refusal('NotImplemented', { NotImplemented: '{{prefix}}mfa' }),
    ask: { ...on, vendor: { mfa: 'serial 123456' } },
    afterwards: is(undefined),
  },
  {
    it: 'refuses a configuration without a status',
    ...refusal('IllegalVersioningConfigurationException', {}),
    message: 'The Versioning element must be specified',
    ask: put(''),
    afterwards: is(undefined),
    sdk: sdk(PutBucketVersioningCommand, { Bucket: 'wire', VersioningConfiguration: {} }),
  },
  ...['enabled', 'Disabled', 'On', ''].map(
    (status): Row => ({
      it: `refuses the status "${status}"`,
      ...refusal('MalformedXML'),
      ask: put(`<Status>${status}</Status>`),
      afterwards: is(undefined),
    }),
  ),
  {
    it: 'refuses two statuses',
    ...refusal('MalformedXML'),
    ask: put('<Status>Suspended</Status><Status>Enabled</Status>'),
    afterwards: is(undefined),
  },
  ...documentRows(on, undefined, is(undefined), { digestRequired: false }),
  ...ownerRows(on, { afterwards: is(undefined) }),
]

wireTests('PutBucketVersioning', [...turned, ...refused])

const answers = (it: string, given: Row['given'], Status: 'Enabled' | 'Suspended' | undefined): Row => ({
  it,
  proves: ['answer element:VersioningConfiguration/MfaDelete'],
  status: 200,
  ...(given === undefined ? {} : { given }),
  ask: get,
  headers: { 'Content-Type': 'application/xml' },
  vendor: {},
  xml: { VersioningConfiguration: Status === undefined ? '' : { Status } },
  sdk: sdk(GetBucketVersioningCommand, { Bucket: 'wire' }, { Status, MFADelete: undefined }),
})

wireTests('GetBucketVersioning', [
  answers('answers nothing where versioning never was on', undefined, undefined),
  answers('answers that it is on', enabled, 'Enabled'),
  answers('answers that it is suspended', suspended, 'Suspended'),
  answers('answers that it is on where Object Lock turned it on', (wire) => vault(wire), 'Enabled'),
  ...ownerRows(get),
])
