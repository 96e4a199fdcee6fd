import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { describeClient, type Workplace } from './client-tools.ts'

const runs = async (at: Workplace, name: string): Promise<void> => {
  const script = fileURLToPath(new URL(name, import.meta.url))
  expect((await at.client('python3', script)).trim().split('\n').at(-1)).toBe('all well')
}

const session = (at: Workplace): void => {
  it('works through a whole session', () => runs(at, 'boto3_session.py'))
}

describeClient('boto3', ['python3', '-c', 'import boto3'], (at) => {
  session(at)
  it('presigns URLs as it does without configuration', () => runs(at, 'boto3_presigned.py'))
  it('presigns forms, with and without configuration', () => runs(at, 'boto3_posted.py'))
})
describeClient('boto3 over TLS', ['python3', '-c', 'import boto3'], session, { tls: true })
