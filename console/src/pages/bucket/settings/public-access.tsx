/** Blocks public access, whatever policies and access control lists say. */
import { useSignal } from '@preact/signals'
import { bucketPublicAccessBlock, type PublicAccessBlock, putPublicAccessBlock } from '../../../api/buckets.ts'
import { Check } from '../../../ui/fields.tsx'
import { Setting, SettingForm } from './panel.tsx'

export function PublicAccess({ bucket }: { bucket: string }) {
  return (
    <Setting title="Public access" load={() => bucketPublicAccessBlock(bucket)}>
      {(block, reload) => <Form bucket={bucket} block={block} reload={reload} />}
    </Setting>
  )
}

function Form({ bucket, block, reload }: { bucket: string; block: PublicAccessBlock; reload: () => Promise<void> }) {
  const newLists = useSignal(block.BlockPublicAcls)
  const lists = useSignal(block.IgnorePublicAcls)
  const newPolicies = useSignal(block.BlockPublicPolicy)
  const restricted = useSignal(block.RestrictPublicBuckets)
  const save = async () => {
    await putPublicAccessBlock(bucket, {
      BlockPublicAcls: newLists.value,
      IgnorePublicAcls: lists.value,
      BlockPublicPolicy: newPolicies.value,
      RestrictPublicBuckets: restricted.value,
    })
    await reload()
  }
  return (
    <SettingForm onSubmit={save}>
      <Check label="Refuse new access control lists that are public" value={newLists} />
      <Check label="Ignore access control lists that are public" value={lists} />
      <Check label="Refuse new policies that are public" value={newPolicies} />
      <Check label="While the policy is public, admit only this account" value={restricted} />
    </SettingForm>
  )
}
