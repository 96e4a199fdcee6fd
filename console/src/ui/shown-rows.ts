/** Which rows of a long list are in view. Pure. */

/** Browsers cut off what is higher; the lowest bound that is known is Firefox's, at about 17.8 million pixels. */
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
  /** The row after the last one. */
  last: number
  /** Where the first shown row begins, in pixels from the top of the content. */
  offset: number
  contentHeight: number
}

/** A content that is too high is shown at a scale: a pixel of the scroll bar then stands for more than a pixel of rows. */
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
