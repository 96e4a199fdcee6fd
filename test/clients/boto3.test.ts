import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { describeClient } from './client-tools.ts'

const script = fileURLToPath(new URL('boto3_session.py', import.meta.url))

describeClient('boto3', ['python3', '-c', 'import boto3'], (at) => {
  it('works through a whole session', async () => {
    expect((await at.client('python3', script)).trim().split('\n').at(-1)).toBe('all well')
  })
})
