import { Writable } from 'node:stream'
import { type Level, pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { RequestLog } from '../../src/http/telemetry/request-log.ts'
import { logRequests } from '../../src/opening/port-log.ts'

const request: RequestLog = {
  requestId: '0A',
  operation: 'PutObject',
  method: 'PUT',
  path: '/bucket/key',
  status: 200,
  code: '',
  bytesIn: 0,
  bytesOut: 0,
  firstByteMs: 1,
  account: 'main',
  durationMs: 1,
  remote: '127.0.0.1',
  accessKeyId: 'AK',
}

function linesOf(level: Level, line: RequestLog): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = []
  const stream = new Writable({
    write(chunk, _encoding, written) {
      lines.push(JSON.parse(String(chunk)))
      written()
    },
  })
  logRequests(pino({ level }, stream))(line)
  return lines
}

describe('vendor headers that had no effect', () => {
  const ignoredHeaders = ['x-amz-api-version', 'x-amz-made-up']

  it('make one line more at level debug, which names them', () => {
    const [ignored, ...others] = linesOf('debug', { ...request, ignoredHeaders })
    expect(ignored).toMatchObject({ level: 20, requestId: '0A', operation: 'PutObject', ignoredHeaders })
    expect(others).toEqual([expect.objectContaining({ msg: 'request' })])
  })

  it('are told at no other level', () => {
    expect(JSON.stringify(linesOf('info', { ...request, ignoredHeaders }))).not.toContain('made-up')
    expect(linesOf('debug', request)).toHaveLength(1)
  })
})
