/** The tags of a bucket. */
import { useSignal } from '@preact/signals'
import { bucketTags, putBucketTags } from '../../../api/buckets.ts'
import type { Tags as TagSet } from '../../../api/objects.ts'
import { type PairList, Pairs, pairsOf, recordOf } from '../../../ui/pairs.tsx'
import { Setting, SettingForm } from './panel.tsx'

export function Tags({ bucket }: { bucket: string }) {
  return (
    <Setting title="Tags" load={() => bucketTags(bucket)}>
      {(tags, reload) => <Form bucket={bucket} tags={tags} reload={reload} />}
    </Setting>
  )
}

function Form({ bucket, tags, reload }: { bucket: string; tags: TagSet; reload: () => Promise<void> }) {
  const pairs = useSignal<PairList>(pairsOf(tags))
  const save = async () => {
    await putBucketTags(bucket, recordOf(pairs.value))
    await reload()
  }
  return (
    <SettingForm onSubmit={save}>
      <Pairs title="Tags of the bucket" pairs={pairs} />
    </SettingForm>
  )
}
