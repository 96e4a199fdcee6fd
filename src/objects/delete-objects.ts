/** Deletes many keys of a bucket: decides about all of them together and commits once. Each is answered for itself, as `deleteObject` would answer it. */

import type { Backend } from '../commits/backend.ts'
import type { Decision } from '../commits/commit.ts'
import { readHistories } from '../commits/key-history.ts'
import { lockNow } from '../commits/lock-clock.ts'
import type { BucketScope } from '../commits/scope.ts'
import { inTurns, turnOfKey } from '../commits/turns.ts'
import { S3Error } from '../errors.ts'
import type { Check, Commit } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { type Deletion, type DeletionResult, decideDeletion, deleteObject } from './delete-object.ts'

export interface ScopedDeletion extends Deletion {
  scope: BucketScope
}

/** What became of one deletion; what it throws is kept. */
export type DeletionOutcome = DeletionResult | S3Error

/** The outcomes in the order of the deletions. Those of one key happen in that order. */
export async function deleteObjects(
  backend: Backend,
  bucket: string,
  deletions: readonly ScopedDeletion[],
): Promise<DeletionOutcome[]> {
  const outcomes = new Map<ScopedDeletion, DeletionOutcome>()
  for (const round of roundsOf(deletions)) {
    const decided = await deleteEach(backend, bucket, round)
    for (const [i, deletion] of round.entries()) {
      const outcome = decided[i]
      if (outcome !== undefined) outcomes.set(deletion, outcome)
    }
  }
  return deletions.flatMap((deletion) => outcomes.get(deletion) ?? [])
}

/** No commit changes a key twice, so a round names each key once. */
function roundsOf(deletions: readonly ScopedDeletion[]): ScopedDeletion[][] {
  const rounds: ScopedDeletion[][] = []
  const seen = new Map<string, number>()
  for (const deletion of deletions) {
    const round = seen.get(deletion.key) ?? 0
    seen.set(deletion.key, round + 1)
    const of = rounds[round]
    if (of === undefined) rounds.push([deletion])
    else of.push(deletion)
  }
  return rounds
}

async function deleteEach(
  backend: Backend,
  bucket: string,
  deletions: readonly ScopedDeletion[],
): Promise<DeletionOutcome[]> {
  const names = deletions.map(({ key }) => turnOfKey(bucket, key))
  const together =
    deletions.length === 1 ? undefined : await inTurns(backend, names, () => deleteTogether(backend, bucket, deletions))
  // Somebody else changed one of them: each tries again by itself, so that one busy key does not hold up the others.
  return (
    together ??
    Promise.all(deletions.map((deletion) => outcomeOf(() => deleteObject(backend, deletion.scope, deletion))))
  )
}

/** Resolves with `undefined` when nothing was deleted, and each is to be tried by itself. */
async function deleteTogether(
  backend: Backend,
  bucket: string,
  deletions: readonly ScopedDeletion[],
): Promise<DeletionOutcome[] | undefined> {
  let asked: Promise<number> | undefined
  const now = (): Promise<number> => {
    asked ??= lockNow(backend)
    return asked
  }
  const histories = await outcomeOf(() => readHistories(backend, bucket, deletions))
  if (histories instanceof S3Error) return deletions.map(() => histories)
  const decisions: (Decision<DeletionResult> | S3Error)[] = []
  for (const [i, deletion] of deletions.entries()) {
    const history = histories[i]
    if (history === undefined) throw new Error('a key was asked for, and no history read')
    decisions.push(await outcomeOf(() => decideDeletion(backend, history(deletion.scope), deletion, now)))
  }
  const commit = joined(decisions.flatMap((decided) => (decided instanceof S3Error ? [] : [decided.commit])))
  if (bytesOf(commit) > limits.kvBatchBytesMax) return undefined
  const applied = await outcomeOf(() => backend.kv.commit(commit))
  if (applied === false) return undefined
  return decisions.map((decided) => {
    if (decided instanceof S3Error) return decided
    return applied instanceof S3Error ? applied : decided.result
  })
}

function joined(commits: readonly Commit[]): Commit {
  // All check the same bucket.
  const checks = new Set<Check>(commits.flatMap((commit) => commit.checks ?? []))
  return {
    checks: [...checks],
    puts: commits.flatMap(({ puts = [] }) => puts),
    deletes: commits.flatMap(({ deletes = [] }) => deletes),
  }
}

const bytesOf = ({ puts = [] }: Commit): number => puts.reduce((sum, { value }) => sum + value.length, 0)

/** What `work` resolves with, or the answer that it throws. */
async function outcomeOf<T>(work: () => Promise<T>): Promise<T | S3Error> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof S3Error) return error
    throw error
  }
}
