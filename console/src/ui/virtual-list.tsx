/** A list that renders only the rows in view, so that a million rows scroll like ten. Arrow keys move through it. */
import { type Signal, useSignal } from '@preact/signals'
import type { JSX, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { shownRows } from './shown-rows.ts'

interface VirtualListParts {
  label: string
  count: number
  rowHeight: number
  /** The row with the column names, above the others. */
  header: JSX.Element
  row: (index: number, focused: boolean) => JSX.Element
  /** Called when the last rows come into view. */
  onEnd: () => void
  onOpen: (index: number) => void
  onToggle: (index: number) => void
}

/** Rows outside of the view that are rendered too, so that quick scrolling shows no gaps. */
const spareRows = 12

export function VirtualList({ label, count, rowHeight, header, row, onEnd, onOpen, onToggle }: VirtualListParts) {
  const frame = useRef<HTMLDivElement>(null)
  const view = useView(frame)
  const focused = useSignal(0)
  const { first, last, offset, contentHeight } = shownRows({ ...view.value, count, rowHeight, spareRows })
  useEffect(() => {
    if (last >= count) onEnd()
  }, [last, count])
  const focusRow = (index: number) => {
    focused.value = Math.max(0, Math.min(count - 1, index))
    const element = frame.current
    if (element === null) return
    const { first: seen } = shownRows({ ...view.value, count, rowHeight, spareRows: 0 })
    const rowsInView = Math.floor(view.value.height / rowHeight) - 1
    if (focused.value < seen) element.scrollTop -= (seen - focused.value) * rowHeight
    else if (focused.value >= seen + rowsInView)
      element.scrollTop += (focused.value - seen - rowsInView + 1) * rowHeight
  }
  const keys: Record<string, () => void> = {
    ArrowDown: () => focusRow(focused.value + 1),
    ArrowUp: () => focusRow(focused.value - 1),
    PageDown: () => focusRow(focused.value + Math.floor(view.value.height / rowHeight)),
    PageUp: () => focusRow(focused.value - Math.floor(view.value.height / rowHeight)),
    Home: () => focusRow(0),
    End: () => focusRow(count - 1),
    Enter: () => onOpen(focused.value),
    ' ': () => onToggle(focused.value),
  }
  return (
    <div
      ref={frame}
      class="virtual-list"
      role="grid"
      aria-label={label}
      aria-rowcount={count}
      tabIndex={0}
      aria-activedescendant={count > 0 ? `row-${focused.value}` : undefined}
      onScroll={({ currentTarget }) => {
        view.value = { top: currentTarget.scrollTop, height: currentTarget.clientHeight }
      }}
      onKeyDown={(event) => {
        const act = event.target === frame.current ? keys[event.key] : undefined
        if (act === undefined) return
        event.preventDefault()
        act()
      }}
    >
      {header}
      <div class="virtual-content" style={{ height: `${contentHeight}px` }}>
        <div class="virtual-rows" style={{ transform: `translateY(${offset}px)` }}>
          {Array.from({ length: Math.max(0, last - first) }, (_, i) => row(first + i, first + i === focused.value))}
        </div>
      </div>
    </div>
  )
}

/** What the frame shows: how far it is scrolled, and its height. */
function useView(frame: RefObject<HTMLDivElement | null>): Signal<{ top: number; height: number }> {
  const view = useSignal({ top: 0, height: 600 })
  useLayoutEffect(() => {
    const element = frame.current
    if (element === null) return
    const observer = new ResizeObserver(() => {
      view.value = { top: element.scrollTop, height: element.clientHeight }
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return view
}
