/** Proofs of CORS: what a rule says decides over a preflight, and is read back. */
import { expect } from 'vitest'
import type { Wire } from '../wire-client.ts'
import { type PreflightAsk, preflight, putCors, type RuleElements } from '../wire-cors.ts'
import { answering, effect, type Proof } from './proof.ts'

const origin = 'https://app.test'
const rule: RuleElements = [
  ['ID', 'one'],
  ['AllowedOrigin', origin],
  ['AllowedMethod', 'PUT'],
  ['AllowedHeader', 'x-one'],
  ['ExposeHeader', 'ETag'],
  ['MaxAgeSeconds', '30'],
]
const element = (name: string): string => `CORSConfiguration/CORSRule/${name}`
const ask: PreflightAsk = { origin, method: 'PUT', headers: 'x-one' }

const decided = (name: string, more: PreflightAsk): Proof =>
  effect('PutBucketCors', [`request element:${element(name)}`], async (wire) => {
    await wire.must(putCors(rule))
    expect((await preflight(wire, ask)).status).toBe(200)
    expect((await preflight(wire, { ...ask, ...more })).status).toBe(403)
  })

const answered = (name: string, header: string, value: string): Proof =>
  effect('PutBucketCors', [`request element:${element(name)}`], async (wire) => {
    await wire.must(putCors(rule))
    expect((await preflight(wire, ask)).headers.get(header)).toBe(value)
  })

const readBack = async (wire: Wire): Promise<void> => {
  await wire.must(putCors(rule))
}

export const corsProofs: readonly Proof[] = [
  decided('AllowedOrigin', { origin: 'https://other.test' }),
  decided('AllowedMethod', { method: 'GET' }),
  decided('AllowedHeader', { headers: 'x-two' }),
  answered('ExposeHeader', 'access-control-expose-headers', 'ETag'),
  answered('MaxAgeSeconds', 'access-control-max-age', '30'),
  effect('PutBucketCors', [`request element:${element('ID')}`], async (wire) => {
    expect((await wire.ask(putCors(rule, rule))).status).toBe(400)
    await wire.must(putCors(rule))
  }),
  answering({
    operation: 'GetBucketCors',
    it: 'the rules',
    given: readBack,
    ask: { method: 'GET', query: { cors: '' } },
    elements: Object.fromEntries(rule.map(([name, text]) => [element(name), text])),
  }),
]
