/** A run of the background jobs on request, in the process that runs them anyway. */
import { type TaskKind, TaskRefused } from './tasks/task-runner.ts'

const reclaimKind = 'reclaim'

interface ReclaimReport {
  counts: Readonly<Record<string, number>>
  blobsRemoved: number
  metadataDamage: string | undefined
}

/** `graceMs`: the least age of what is removed. A request can only ask for more, because clients may need younger data. */
export function reclaimTask(
  { graceMs }: { graceMs: number },
  run: (how: { graceMs: number }) => Promise<ReclaimReport>,
): TaskKind {
  return {
    kind: reclaimKind,
    run: async (_, task) => {
      const { graceMs: asked } = task.arguments
      const { metadataDamage, counts, blobsRemoved } = await run({ graceMs: Math.max(graceMs, Number(asked ?? 0)) })
      await task.advance({ unit: 'blobs', done: blobsRemoved, counts })
      if (metadataDamage === undefined) return
      throw new TaskRefused(`nothing was removed, because the metadata is damaged: ${metadataDamage}`)
    },
  }
}
