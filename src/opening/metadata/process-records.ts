/** Tells the records of running processes from others. They stay where they are when metadata is copied, moved or replaced. */
import { instanceKeys } from '../../instance/instance-lock.ts'
import { memberAccounts } from '../../instance/member-accounts.ts'
import { settlingKey } from '../../instance/one-at-a-time.ts'
import { offersKey, placementOffers } from '../../instance/placement-offers.ts'
import type { Key } from '../../kv/kv.ts'
import type { KeyRange } from '../../kv/ordered-key.ts'
import { members } from '../../members/member-records.ts'

/** Records of the process that owns a data directory, or of members. */
const processKeys: readonly Key[] = [...instanceKeys, settlingKey, offersKey]
const processRanges: readonly KeyRange[] = [members, placementOffers, memberAccounts]

export const isWithin = ({ start, end }: KeyRange, key: Key): boolean =>
  Buffer.compare(start, key) <= 0 && Buffer.compare(key, end) < 0

export const isOfProcess = (key: Key): boolean =>
  processKeys.some((own) => own.equals(key)) || processRanges.some((range) => isWithin(range, key))
