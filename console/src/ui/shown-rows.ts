/** Which rows of a long list are in view. Pure. */

/** Browsers cut off higher elements. The lowest known limit is Firefox's, about 17.8 million pixels. */
const contentHeightMax = 15_000_000

export interface ScrolledList {
  /** How far the frame is scrolled, in pixels. */
  top: number
  height: number
  count: number
  rowHeight: number
  spareRows: number
}

export interface ShownRows {
  first: number
  /** The index after the last row. */
  last: number
  /** Where the first shown row begins, in pixels from the top of the content. */
  offset: number
  contentHeight: number
}

/** Content that is too high is scaled, so that one pixel of the scroll bar stands for several pixels of rows. */
export function shownRows({ top, height, count, rowHeight, spareRows }: ScrolledList): ShownRows {
  const fullHeight = count * rowHeight
  const contentHeight = Math.min(fullHeight, contentHeightMax)
  const scrollable = Math.max(0, contentHeight - height)
  const bounded = Math.max(0, Math.min(top, scrollable))
  const fullTop = scrollable === 0 ? 0 : (bounded / scrollable) * (fullHeight - height)
  const first = Math.max(0, Math.floor(fullTop / rowHeight) - spareRows)
  const last = Math.min(count, Math.ceil((fullTop + height) / rowHeight) + spareRows)
  return { first, last, offset: bounded - (fullTop - first * rowHeight), contentHeight }
}
