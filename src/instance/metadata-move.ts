/**
 * Decides the next step of a move of the metadata to another engine, from what both sides hold (ADR 0045). Pure.
 *
 *     source              target              step
 *     -                   empty               begin: mark the target, then the source
 *     source              target              copy and compare, then mark the source as over
 *     source, over        target              end: remove the target's mark
 *     source, over        -                   nothing: the move is done
 *
 * In none of these states can both be served: a mark keeps servers away, and the target's goes last.
 */
import type { Mark } from './unfinished-metadata.ts'

export interface SideState {
  mark: Mark | undefined
  /** The id of its metadata, then the ids that the metadata had before. Empty: there is no metadata. */
  ids: readonly string[]
  /** Whether it holds nothing that a copy would replace. */
  isEmpty: boolean
}

export interface MoveStates {
  source: SideState
  target: SideState
}

/** `reason` follows the name of the side. */
export interface MoveRefusal {
  side: 'source' | 'target'
  reason: string
}

export function nextStep({ source, target }: MoveStates): 'begin' | 'copy' | 'end' | 'nothing' | MoveRefusal {
  const { mark } = source
  if (mark === undefined) {
    if (source.isEmpty) return refuse('source', 'has no metadata to move')
    return whyNotFilled({ source, target }) ?? 'begin'
  }
  const { move } = mark
  if (move === undefined) return refuse('source', `is incomplete: holdfast ${mark.command} did not finish`)
  if (move.side === 'target') {
    return refuse(
      'source',
      `is incomplete, because its metadata is being moved here from ${move.other}. Go on with that, or give it up with --cancel, first`,
    )
  }
  const isOther = target.mark?.move?.side === 'target' && target.mark.move.id === move.id
  if (isOther) return move.isOver === true ? 'end' : 'copy'
  if (move.isOver !== true) {
    return refuse(
      'source',
      `is being moved to ${move.other}, which is not the place that is named now. Name that one, or give the move up with --cancel`,
    )
  }
  const isDone = target.mark === undefined && target.ids.includes(move.metadataId)
  return isDone ? 'nothing' : refuse('source', `was moved to ${move.other}, and is out of date here`)
}

/** Why the target can't be filled from a source that is in use. */
function whyNotFilled({ source, target }: MoveStates): MoveRefusal | undefined {
  const { mark } = target
  if (mark === undefined) {
    return target.isEmpty ? undefined : refuse('target', 'holds metadata already: name one that is empty and new')
  }
  const { move } = mark
  if (move === undefined) return refuse('target', `is incomplete: holdfast ${mark.command} did not finish`)
  if (move.side === 'source' && move.isOver !== true) {
    return refuse('target', `is being moved to ${move.other}. Go on with that move, or give it up with --cancel, first`)
  }
  // This is part of a move that was given up, or what a move from there left behind. The copy replaces it.
  if (source.ids.includes(move.metadataId)) return undefined
  return refuse('target', 'holds a part of other metadata, or what other metadata left there: name one that is empty')
}

/**
 * How to give up a move. `release`: remove the mark of the source. `empty`: empty the target, which holds a part. The source comes first, because the
 * target may never answer again.
 */
export function cancelStep({ source, target }: MoveStates): { release: boolean; empty: boolean } | MoveRefusal {
  const move = source.mark?.move
  if (move?.side === 'source' && move.isOver === true) {
    return refuse('source', `was moved to ${move.other} already. To bring the metadata back, move it the other way`)
  }
  const there = target.mark?.move
  const isPart = there?.side === 'target' && (there.id === move?.id || source.ids.includes(there.metadataId))
  return { release: move?.side === 'source', empty: isPart }
}

function refuse(side: MoveRefusal['side'], reason: string): MoveRefusal {
  return { side, reason }
}
