/** Deletes many keys of a bucket: decides about all of them together and commits once. Each gets its own outcome, the same as from `deleteObject`. */

import type { Backend } from '../commits/backend.ts'
import type { Decision } from '../commits/commit.ts'
import { readHistories } from '../commits/key-history.ts'
import { lockNow } from '../commits/lock-clock.ts'
import type { BucketScope } from '../commits/scope.ts'
import { inTurns, turnOfKey } from '../commits/turns.ts'
import { eachOf } from '../each-of.ts'
import { S3Error } from '../errors.ts'
import { known } from '../known.ts'
import type { Check, Commit } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { pauses } from '../pauses.ts'
import { type Deletion, type DeletionResult, decideDeletion, deleteObject } from './delete-object.ts'

/** Keys that are deleted apart from each other at the same time. */
const apartAtOnce = 16

export interface ScopedDeletion extends Deletion {
  scope: BucketScope
}

/** The result of one deletion, or the S3Error that it failed with. */
export type DeletionOutcome = DeletionResult | S3Error

/** Resolves with the outcomes in the order of the deletions. Deletions of the same key run in that order. */
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

/** Splits the deletions into rounds that name each key once, because a commit must not change a key twice. */
function roundsOf(deletions: readonly ScopedDeletion[]): ScopedDeletion[][] {
  const rounds: ScopedDeletion[][] = []
  const timesSeen = new Map<string, number>()
  for (const deletion of deletions) {
    const index = timesSeen.get(deletion.key) ?? 0
    timesSeen.set(deletion.key, index + 1)
    const round = rounds[index]
    if (round === undefined) rounds.push([deletion])
    else round.push(deletion)
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
  return together ?? deleteApart(backend, deletions)
}

/** Each by itself: when it is the only one, when the joint commit is too large, and when another request changed one of the keys. One busy key must not hold up the others. */
async function deleteApart(backend: Backend, deletions: readonly ScopedDeletion[]): Promise<DeletionOutcome[]> {
  const outcomes = new Map<ScopedDeletion, DeletionOutcome>()
  const pause = pauses()
  await eachOf(deletions, apartAtOnce, async (deletion) => {
    await pause()
    outcomes.set(deletion, await outcomeOf(() => deleteObject(backend, deletion.scope, deletion)))
  })
  return deletions.map((deletion) => known(outcomes.get(deletion)))
}

/** Resolves with `undefined` when it deleted nothing and each deletion must be tried by itself. */
async function deleteTogether(
  backend: Backend,
  bucket: string,
  deletions: readonly ScopedDeletion[],
): Promise<DeletionOutcome[] | undefined> {
  let lockTime: Promise<number> | undefined
  const now = (): Promise<number> => {
    lockTime ??= lockNow(backend)
    return lockTime
  }
  const histories = await outcomeOf(() => readHistories(backend, bucket, deletions))
  if (histories instanceof S3Error) return deletions.map(() => histories)
  const decisions: (Decision<DeletionResult> | S3Error)[] = []
  const pause = pauses()
  for (const [i, deletion] of deletions.entries()) {
    // A policy may make each decision expensive.
    await pause()
    const historyFor = known(histories[i])
    decisions.push(await outcomeOf(() => decideDeletion(backend, historyFor(deletion.scope), deletion, now)))
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
  // The commits share one check of their bucket.
  const checks = new Set<Check>(commits.flatMap((commit) => commit.checks ?? []))
  return {
    checks: [...checks],
    puts: commits.flatMap(({ puts = [] }) => puts),
    deletes: commits.flatMap(({ deletes = [] }) => deletes),
  }
}

const bytesOf = ({ puts = [] }: Commit): number => puts.reduce((sum, { value }) => sum + value.length, 0)

/** What `work` resolves with, or the S3Error that it throws. */
async function outcomeOf<T>(work: () => Promise<T>): Promise<T | S3Error> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof S3Error) return error
    throw error
  }
}
