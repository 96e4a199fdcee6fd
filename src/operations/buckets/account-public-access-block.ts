/** PutAccountPublicAccessBlock, GetAccountPublicAccessBlock, DeleteAccountPublicAccessBlock. S3 Control has them, named without "Account". */
import { required, vendor } from '../../contract/fields.ts'
import { checksumsIn, requiredDocument } from '../../contract/groups.ts'
import { text } from '../../contract/values.ts'
import { S3Error } from '../../errors.ts'
import type { AccountBlocks } from '../access/account-blocks.ts'
import { defineOperation, type OperationContext } from '../context.ts'
import { blockShape, elementsOfBlock, readBlock } from './public-access-block.ts'

const root = 'PublicAccessBlockConfiguration'
const accountIn = { accountId: required(vendor('account-id', text)) } as const

/** Throws AccessDenied unless the account in the request is the principal's own. */
function blocksOf(
  { principal, accountBlocks }: OperationContext,
  accountId: string,
): { own: string; blocks: AccountBlocks } {
  if (accountId !== principal.accountId || accountBlocks === undefined) throw new S3Error('AccessDenied')
  return { own: accountId, blocks: accountBlocks }
}

export const putAccountPublicAccessBlockOperation = defineOperation({
  name: 'PutAccountPublicAccessBlock',
  method: 'PUT',
  target: 'account',
  permission: 's3:PutAccountPublicAccessBlock',
  summary:
    "Sets which public access to all of the account's buckets is blocked. What the document leaves out is not blocked.",
  input: { ...accountIn, ...checksumsIn },
  inputBody: requiredDocument(root, blockShape),
  output: {},
  errors: ['InvalidRequest', 'MalformedXML', 'BadDigest', 'InvalidDigest'],

  async handle(context, { accountId, body }) {
    const { own, blocks } = blocksOf(context, accountId)
    await blocks.set(own, readBlock(body))
    return {}
  },
})

export const getAccountPublicAccessBlockOperation = defineOperation({
  name: 'GetAccountPublicAccessBlock',
  method: 'GET',
  target: 'account',
  permission: 's3:GetAccountPublicAccessBlock',
  summary: "Returns which public access to all of the account's buckets is blocked.",
  input: accountIn,
  output: {},
  outputBody: { kind: 'xml', root, shape: blockShape },
  errors: ['NoSuchPublicAccessBlockConfiguration'],

  async handle(context, { accountId }) {
    const { own, blocks } = blocksOf(context, accountId)
    const block = blocks.of(own)
    if (block === undefined) {
      throw new S3Error('NoSuchPublicAccessBlockConfiguration', { details: { AccountId: own } })
    }
    return { body: elementsOfBlock(block) }
  },
})

export const deleteAccountPublicAccessBlockOperation = defineOperation({
  name: 'DeleteAccountPublicAccessBlock',
  method: 'DELETE',
  target: 'account',
  // As for buckets, the permission to set a block is also the permission to remove it.
  permission: 's3:PutAccountPublicAccessBlock',
  summary:
    "Removes the account's public access block. Then the one that the configuration sets for all accounts applies.",
  status: 204,
  input: accountIn,
  output: {},
  errors: [],

  async handle(context, { accountId }) {
    const { own, blocks } = blocksOf(context, accountId)
    await blocks.set(own, undefined)
    return {}
  },
})
