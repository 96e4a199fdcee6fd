import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { describeClient, type Workplace } from './client-tools.ts'

const script = fileURLToPath(new URL('boto3_session.py', import.meta.url))

const session = (at: Workplace): void => {
  it('works through a whole session', async () => {
    expect((await at.client('python3', script)).trim().split('\n').at(-1)).toBe('all well')
  })
}

describeClient('boto3', ['python3', '-c', 'import boto3'], session)
describeClient('boto3 over TLS', ['python3', '-c', 'import boto3'], session, { tls: true })
