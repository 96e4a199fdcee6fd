import { describe, expect, it } from 'vitest'
import { parseOptions, UsageError } from '../../bench/options.ts'
import { PeerError } from '../../bench/servers/peers.ts'

describe('the command line of the bench', () => {
  it('names a peer by its address and key', async () => {
    const [peer] = parseOptions(['--peer', 'other=http://10.0.0.1:9000,key,se,cr=et']).peers
    expect(await peer?.start('')).toMatchObject({
      name: 'other',
      endpoint: { host: '10.0.0.1', port: 9000, accessKeyId: 'key', secretAccessKey: 'se,cr=et' },
    })
  })

  it('names a peer by its kind and program', () => {
    const { command, peers } = parseOptions(['peers', '--peer', 'garage=/opt/a=b/garage'])
    expect(command).toBe('peers')
    expect(peers).toMatchObject([{ name: 'Garage', program: { kind: { name: 'garage' }, path: '/opt/a=b/garage' } }])
  })

  it('measures peers by work of its own, and not without any', () => {
    expect(() => parseOptions(['peers'])).toThrow(UsageError)
    expect(() => parseOptions(['peers', '--peer', 'garage=/garage', '--only', 'multipart'])).toThrow(UsageError)
  })

  it.each([['nothing'], ['a=https://x,key,secret'], ['a=http://x,key'], ['a=x,key,secret'], ['ceph=/usr/bin/radosgw']])(
    'refuses the peer %s',
    (peer) => {
      expect(() => parseOptions(['--peer', peer])).toThrow(PeerError)
    },
  )

  it.each([
    [['run']],
    [['--only', 'put-4k,nope']],
    [['--rounds', '0']],
    [['--seconds', 'x']],
    [['--generator', 'ab']],
    [['--fast']],
  ])('refuses %j', (words) => {
    expect(() => parseOptions(words)).toThrow(UsageError)
  })

  it('writes the page of this checkout when --docs stands alone', () => {
    expect(parseOptions(['--docs', '--quick'])).toMatchObject({ docs: 'docs', quick: true })
    expect(parseOptions(['--docs'])).toMatchObject({ docs: 'docs' })
    expect(parseOptions(['--docs', 'elsewhere']).docs).toBe('elsewhere')
    expect(parseOptions([]).docs).toBeUndefined()
  })

  it('measures shards on another server by work of its own, unless other work is named', () => {
    const { command, far, only } = parseOptions(['far'])
    expect({ command, far }).toEqual({ command: 'work', far: true })
    expect(only).toEqual(['put-4k', 'get-4k', 'put-64k', 'get-64k', 'put-1m', 'get-1m'])
    expect(parseOptions(['far', '--only', 'head-4k']).only).toEqual(['head-4k'])
    expect(parseOptions([])).toMatchObject({ far: false, only: [] })
  })
})
