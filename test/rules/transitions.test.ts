/** Which storage class lifecycle rules give a version, and which of several, row by row. */
import { describe, expect, it } from 'vitest'
import type { LifecycleFilter, LifecycleRule, NoncurrentTransition, Transition } from '../../src/records/lifecycle.ts'
import { noncurrentTransitionOf, transitionOf } from '../../src/rules/lifecycle.ts'
import type { StorageClass, TransitionClass } from '../../src/storage-class.ts'

const large = 128 * 1024
const written = Date.parse('2026-01-15T10:30:00Z')
const now = Date.parse('2026-02-01T00:00:00Z')
const rule = (actions: Partial<LifecycleRule>, filter: Partial<LifecycleFilter> = {}): LifecycleRule => ({
  id: 'rule',
  enabled: true,
  filter: { form: 'filter', tags: [], ...filter },
  ...actions,
})
const to = (storageClass: TransitionClass, days: number): Transition => ({ storageClass, days })
const moving = (...transitions: Transition[]) => rule({ transitions })

describe('the current version of a key gets', () => {
  type Version = { key?: string; size?: number; storageClass?: StorageClass; tags?: { key: string; value: string }[] }
  it.each<[what: string, rules: LifecycleRule[], version: Version, expected: TransitionClass | undefined]>([
    ['no class before its days are over', [moving(to('GLACIER', 17))], {}, undefined],
    ['a class at the first midnight after its days', [moving(to('GLACIER', 16))], {}, 'GLACIER'],
    ['a class at once', [moving(to('GLACIER', 0))], {}, 'GLACIER'],
    ['a class at a date', [moving({ storageClass: 'GLACIER', dateMs: now })], {}, 'GLACIER'],
    ['no class before the date', [moving({ storageClass: 'GLACIER', dateMs: now + 1 })], {}, undefined],
    ['the lowest of those due', [moving(to('DEEP_ARCHIVE', 2), to('STANDARD_IA', 1))], {}, 'DEEP_ARCHIVE'],
    ['the lowest of all rules', [moving(to('GLACIER', 1)), moving(to('GLACIER_IR', 1))], {}, 'GLACIER'],
    ['a lower class than it has', [moving(to('GLACIER', 1))], { storageClass: 'STANDARD_IA' }, 'GLACIER'],
    ['no higher class', [moving(to('STANDARD_IA', 1))], { storageClass: 'GLACIER' }, undefined],
    ['not the class that it has', [moving(to('GLACIER', 1))], { storageClass: 'GLACIER' }, undefined],
    [
      'a class, if its own is one that rules do not name',
      [moving(to('STANDARD_IA', 1))],
      { storageClass: 'REDUCED_REDUNDANCY' },
      'STANDARD_IA',
    ],
    ['none by a rule that is disabled', [{ ...moving(to('GLACIER', 1)), enabled: false }], {}, undefined],
    ['none by a rule about other keys', [rule({ transitions: [to('GLACIER', 1)] }, { prefix: 'b' })], {}, undefined],
    [
      'none by a rule about other tags',
      [rule({ transitions: [to('GLACIER', 1)] }, { tags: [{ key: 't', value: 'v' }] })],
      { tags: [] },
      undefined,
    ],
    ['none by a rule about older versions', [rule({ noncurrentTransitions: [to0('GLACIER')] })], {}, undefined],
    ['none if it is small', [moving(to('GLACIER', 1))], { size: large - 1 }, undefined],
    [
      'one although it is small, by a rule about sizes',
      [rule({ transitions: [to('GLACIER', 1)] }, { sizeLessThan: large })],
      { size: 5 },
      'GLACIER',
    ],
  ])('%s', (_, rules, version, expected) => {
    const subject = { key: 'a', size: large, storageClass: undefined, modifiedMs: written, ...version }
    expect(transitionOf(rules, subject, { nowMs: now, minimum: undefined })).toBe(expected)
  })

  it.each<[TransitionClass, TransitionClass | undefined]>([
    ['STANDARD_IA', undefined],
    ['INTELLIGENT_TIERING', undefined],
    ['ONEZONE_IA', undefined],
    ['GLACIER_IR', undefined],
    ['GLACIER', 'GLACIER'],
    ['DEEP_ARCHIVE', 'DEEP_ARCHIVE'],
  ])('%s although it is small, if the bucket says that sizes vary by class: %s', (storageClass, expected) => {
    const subject = { key: 'a', size: 5, storageClass: undefined, modifiedMs: written }
    const time = { nowMs: now, minimum: 'varies_by_storage_class' } as const
    expect(transitionOf([moving(to(storageClass, 1))], subject, time)).toBe(expected)
  })
})

function to0(storageClass: TransitionClass, more: Partial<NoncurrentTransition> = {}): NoncurrentTransition {
  return { storageClass, days: 0, ...more }
}

describe('a noncurrent version gets', () => {
  it.each<[what: string, transitions: NoncurrentTransition[], newer: number, expected: TransitionClass | undefined]>([
    ['a class once its days as such are over', [to0('GLACIER', { days: 16 })], 0, 'GLACIER'],
    ['none before', [to0('GLACIER', { days: 17 })], 0, undefined],
    ['none while it is among the newest', [to0('GLACIER', { keeps: 2 })], 1, undefined],
    ['one once others are newer', [to0('GLACIER', { keeps: 2 })], 2, 'GLACIER'],
    ['the lowest of those due', [to0('DEEP_ARCHIVE', { days: 1 }), to0('GLACIER')], 0, 'DEEP_ARCHIVE'],
  ])('%s', (_, noncurrentTransitions, newer, expected) => {
    const subject = { key: 'a', size: large, storageClass: undefined, noncurrentSinceMs: written, newer }
    const time = { nowMs: now, minimum: undefined }
    expect(noncurrentTransitionOf([rule({ noncurrentTransitions })], subject, time)).toBe(expected)
  })

  it('none by a rule about current versions', () => {
    const subject = { key: 'a', size: large, storageClass: undefined, noncurrentSinceMs: written, newer: 0 }
    const rules = [moving(to('GLACIER', 1))]
    expect(noncurrentTransitionOf(rules, subject, { nowMs: now, minimum: undefined })).toBeUndefined()
  })
})
