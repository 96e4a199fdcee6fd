/** Which moves to other storage classes a lifecycle rule can ask for, as in S3. Pure. */
import { invalidArgument, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { LifecycleFilter, LifecycleRule, Transition } from '../records/lifecycle.ts'
import { type TransitionClass, transitionRank } from '../storage-class.ts'
import { dayMs } from './lifecycle.ts'
import { checkKeeps, checkMidnight } from './lifecycle-elements.ts'
import { invalidRequest } from './rule-filter.ts'

/** Throws MalformedXML, InvalidArgument, InvalidRequest, with S3's texts. */
export function checkTransitions(rule: LifecycleRule): void {
  checkCurrent(rule)
  checkNoncurrent(rule)
}

function checkCurrent({ filter, expiration, transitions = [] }: LifecycleRule): void {
  for (const one of transitions) checkTime(one)
  const elements = new Set(transitions.map((one) => ('days' in one ? 'Days' : 'Date')))
  const [element] = elements
  if (element === undefined) return
  if (elements.size > 1) throw mixed('Transition', filter)
  const action: Action = { name: 'Transition', element, filter }
  const steps = transitions.map(stepOf)
  checkSteps(action, steps)
  if (expiration === undefined || 'expiredDeleteMarkers' in expiration) return
  const isInDays = 'days' in expiration
  if (isInDays !== (element === 'Days')) throw mixed('Expiration and Transition', filter)
  checkEnd(action, 'Expiration', isInDays ? expiration.days : expiration.dateMs / dayMs, steps)
}

function checkNoncurrent({ filter, noncurrent, noncurrentTransitions = [] }: LifecycleRule): void {
  const action: Action = { name: 'NoncurrentVersionTransition', element: 'NoncurrentDays', filter }
  for (const { days, keeps } of noncurrentTransitions) {
    checkDays(action.element, action.name, days)
    checkKeeps(action.name, keeps, filter)
  }
  checkSteps(action, noncurrentTransitions)
  if (noncurrent?.days !== undefined) {
    checkEnd(action, 'NoncurrentVersionExpiration', noncurrent.days, noncurrentTransitions)
  }
}

/** The first class that no location keeps. `kept`: those that one does. */
export function unkeptClass(rules: readonly LifecycleRule[], kept: ReadonlySet<string>): TransitionClass | undefined {
  return rules
    .flatMap(({ transitions = [], noncurrentTransitions = [] }) => [...transitions, ...noncurrentTransitions])
    .map(({ storageClass }) => storageClass)
    .find((storageClass) => !kept.has(storageClass))
}

interface Action {
  name: 'Transition' | 'NoncurrentVersionTransition'
  element: 'Days' | 'NoncurrentDays' | 'Date'
  filter: LifecycleFilter
}

interface Step {
  storageClass: TransitionClass
  days: number
}

const stepOf = (one: Transition): Step =>
  'days' in one ? one : { storageClass: one.storageClass, days: one.dateMs / dayMs }

/** Objects stay a month in a class before they go to one of infrequent access. */
const infrequent: ReadonlySet<TransitionClass> = new Set(['STANDARD_IA', 'ONEZONE_IA'])
const infrequentDaysMin = 30

function checkTime(one: Transition): void {
  if ('dateMs' in one) {
    checkMidnight(one.dateMs)
    return
  }
  checkDays('Days', 'Transition', one.days)
  if (!infrequent.has(one.storageClass) || one.days >= infrequentDaysMin) return
  const text = `'Days' in Transition action must be greater than or equal to ${infrequentDaysMin} for storageClass '${one.storageClass}'`
  throw invalidArgument('Days', String(one.days), text)
}

function checkDays(element: string, action: string, days: number): void {
  if (days > limits.lifecycleDaysMax) throw new S3Error('MalformedXML')
  if (days >= 0) return
  throw invalidArgument(element, String(days), `'${element}' in ${action} action must be nonnegative`)
}

/** Each class once, and each lower class later than those above it. */
function checkSteps(action: Action, steps: readonly Step[]): void {
  const { name, filter } = action
  if (new Set(steps.map(({ storageClass }) => storageClass)).size < steps.length) {
    throw invalidRequest(
      `'StorageClass' must be different for '${name}' actions in same 'Rule' with ${filterText(filter)}`,
    )
  }
  const descending = steps.toSorted((a, b) => transitionRank(a.storageClass) - transitionRank(b.storageClass))
  for (const [i, { storageClass, days }] of descending.entries()) {
    const before = descending[i - 1]
    if (before === undefined) continue
    const least = stayDays(before.storageClass)
    if (days > before.days && days >= before.days + least) continue
    throw invalidArgument(
      action.element,
      String(days),
      `${stepText(action, storageClass)} must be ${least > 0 ? `${least} days more` : 'greater'} than ${stepText(action, before.storageClass)}`,
    )
  }
}

/** How long S3 leaves an object in a class at least before it goes on. */
function stayDays(storageClass: TransitionClass): number {
  if (infrequent.has(storageClass)) return infrequentDaysMin
  return storageClass === 'GLACIER_IR' ? 90 : 0
}

const stepText = ({ name, element, filter }: Action, storageClass: TransitionClass): string =>
  `'${element}' in the ${name} action for StorageClass '${storageClass}' for ${filterText(filter)}`

function checkEnd({ name, element, filter }: Action, end: string, days: number, steps: readonly Step[]): void {
  if (steps.every((step) => step.days < days)) return
  const text = `'${element}' in the ${end} action for ${filterText(filter)} must be greater than '${element}' in the ${name} action`
  throw invalidArgument(element, String(days), text)
}

const mixed = (actions: string, filter: LifecycleFilter): S3Error =>
  invalidRequest(`Found mixed 'Date' and 'Days' based ${actions} actions in lifecycle rule for ${filterText(filter)}`)

function filterText({ form, prefix, tags, sizeGreaterThan, sizeLessThan }: LifecycleFilter): string {
  if (form === 'prefix') return `prefix '${prefix ?? ''}'`
  const conditions = [
    ...(prefix === undefined ? [] : [`prefix=${prefix}`]),
    ...tags.map(({ key, value }) => `tag={key=${key}, value=${value}}`),
    ...(sizeGreaterThan === undefined ? [] : [`objectsizegreaterthan=${sizeGreaterThan}`]),
    ...(sizeLessThan === undefined ? [] : [`objectsizelessthan=${sizeLessThan}`]),
  ]
  return `filter '(${conditions.join(' and ')})'`
}
