import { expect, test } from 'vitest'
import { connectionFailure } from '../src/connection-failure.ts'

const failed = (code: string, message = 'as node says it') => Object.assign(new Error(message), { code })
const wrongVersion = 'write EPROTO 80FC:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps'

test.each([
  [failed('ECONNREFUSED'), 'nothing listens there (ECONNREFUSED)'],
  [failed('EPROTO', wrongVersion), 'it does not speak TLS; ask it by http:// (EPROTO)'],
  [failed('ERR_SSL_WRONG_VERSION_NUMBER', wrongVersion), /^it does not speak TLS/],
  [failed('EPROTO', 'write EPROTO: alert handshake failure'), /alert handshake failure$/],
  [failed('DEPTH_ZERO_SELF_SIGNED_CERT'), /does not trust; name the file of the authority in NODE_EXTRA_CA_CERTS/],
  [failed('ECANARY'), 'as node says it'],
  [failed('ECANARY', ''), 'ECANARY'],
  [new Error('no answer within 5 s'), 'no answer within 5 s'],
])('a failed connection names what is wrong, and what to do: %s', (error, message) => {
  expect(connectionFailure(error, { isSecure: true })).toMatch(message)
})

test('a server is not said to lack TLS where none was asked for', () => {
  expect(connectionFailure(failed('EPROTO', wrongVersion), { isSecure: false })).toBe(wrongVersion)
})
