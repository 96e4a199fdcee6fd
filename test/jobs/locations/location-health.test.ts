import { expect, test } from 'vitest'
import { healthOf, worstHealth } from '../../../src/jobs/locations/location-health.ts'

const whole = { degradedBlobs: 0, lostBlobs: 0, failuresSurvived: { now: 2, whole: 2 } }
const up = { state: 'up' } as const
const out = { state: 'out' } as const
const full = { state: 'full' } as const

test.each([
  ['whole', { ...whole, stores: [up, up] }, 'OK'],
  ['one copy only, there', { ...whole, failuresSurvived: { now: 0, whole: 0 }, stores: [up] }, 'OK'],
  ['one copy only, away', { ...whole, failuresSurvived: { now: 0, whole: 0 }, stores: [out] }, 'AT RISK'],
  ['one failure of two', { ...whole, failuresSurvived: { now: 1, whole: 2 }, stores: [up, out] }, 'DEGRADED'],
  ['no failure left', { ...whole, failuresSurvived: { now: 0, whole: 2 }, stores: [out, out] }, 'AT RISK'],
  ['a full store', { ...whole, stores: [up, full] }, 'DEGRADED'],
  ['something lost', { ...whole, lostBlobs: 1, stores: [up, up] }, 'AT RISK'],
] as const)('a location with %s', (_, location, health) => {
  expect(healthOf(location)).toBe(health)
})

test('of several, the worst counts', () => {
  expect(worstHealth(['OK', 'AT RISK', 'DEGRADED'])).toBe('AT RISK')
  expect(worstHealth(['OK', 'DEGRADED'])).toBe('DEGRADED')
  expect(worstHealth([])).toBe('OK')
})
