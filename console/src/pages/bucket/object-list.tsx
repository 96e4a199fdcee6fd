/** The rows of a listing, each with a checkbox. */
import type { Signal } from '@preact/signals'
import { type Listing, type Row, rowId } from '../../model/listing.ts'
import { lastName, sizeText, timeText } from '../../model/text.ts'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'

const rowHeight = 36

interface ListParts {
  listing: Listing
  selected: Signal<ReadonlyMap<string, Row>>
  onOpen: (row: Row) => void
}

export function ObjectList({ listing, selected, onOpen }: ListParts) {
  // Reading it makes the list render again when a page has loaded.
  listing.changed.value
  const { versions } = listing.of
  const toggle = (row: Row) => {
    const next = new Map(selected.peek())
    if (!next.delete(rowId(row))) next.set(rowId(row), row)
    selected.value = next
  }
  const isAllSelected = listing.loaded > 0 && selected.value.size === listing.loaded
  const toggleAll = () => {
    selected.value = isAllSelected ? new Map() : new Map(listing.rows().map((row) => [rowId(row), row]))
  }
  const at = (index: number, act: (row: Row) => void) => {
    const row = listing.row(index)
    if (row !== undefined) act(row)
  }
  return (
    <VirtualList
      label="Objects"
      count={listing.loaded}
      rowHeight={rowHeight}
      header={<Head versions={versions} isAllSelected={isAllSelected} onToggleAll={toggleAll} />}
      onEnd={() => void listing.more()}
      onOpen={(index) => at(index, onOpen)}
      onToggle={(index) => at(index, toggle)}
      row={(index, focused) => {
        const row = listing.row(index)
        if (row === undefined) return <div key={index} class="row" />
        return (
          <ObjectRow
            key={rowId(row)}
            row={row}
            index={index}
            focused={focused}
            selected={selected.value.has(rowId(row))}
            name={row.key.slice(listing.of.prefix.lastIndexOf('/') + 1)}
            versions={versions}
            onOpen={onOpen}
            onToggle={toggle}
          />
        )
      }}
    />
  )
}

interface HeadParts {
  versions: boolean
  isAllSelected: boolean
  onToggleAll: () => void
}

function Head({ versions, isAllSelected, onToggleAll }: HeadParts) {
  return (
    <div class={versions ? 'row head with-versions' : 'row head'} role="row">
      <span role="columnheader">
        <input type="checkbox" aria-label="Select all that are loaded" checked={isAllSelected} onChange={onToggleAll} />
      </span>
      <span role="columnheader">Name</span>
      {versions && (
        <span role="columnheader" class="wide">
          Version
        </span>
      )}
      <span role="columnheader" class="number">
        Size
      </span>
      <span role="columnheader" class="number wide">
        Modified
      </span>
      <span role="columnheader" />
    </div>
  )
}

interface RowParts {
  row: Row
  index: number
  focused: boolean
  selected: boolean
  name: string
  versions: boolean
  onOpen: (row: Row) => void
  onToggle: (row: Row) => void
}

function ObjectRow({ row, index, focused, selected, name, versions, onOpen, onToggle }: RowParts) {
  const isGone = row.is === 'object' && 'isDeleteMarker' in row && row.isDeleteMarker
  const classes = ['row', versions ? 'with-versions' : '', focused ? 'focused' : '', isGone ? 'gone' : ''].join(' ')
  return (
    <div id={`row-${index}`} class={classes} role="row" aria-rowindex={index + 1} aria-selected={selected}>
      <span role="gridcell">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Select ${name}`}
          checked={selected}
          onChange={() => onToggle(row)}
        />
      </span>
      <span role="gridcell" class="name">
        <Icon name={row.is === 'folder' ? 'folder' : 'file'} />
        <button type="button" tabIndex={-1} title={row.key} onClick={() => onOpen(row)}>
          {name === '' ? lastName(row.key) || '(empty name)' : name}
        </button>
      </span>
      {versions && (
        <span role="gridcell" class="wide quiet">
          {versionText(row)}
        </span>
      )}
      <span role="gridcell" class="number">
        {row.is === 'object' && !isGone ? sizeText(row.bytes) : ''}
      </span>
      <span role="gridcell" class="number wide">
        {row.is === 'object' ? timeText(row.modified) : ''}
      </span>
      <span role="gridcell">
        {row.is === 'object' && (
          <IconButton icon="more" label={`Details of ${name}`} isInTabOrder={false} onClick={() => onOpen(row)} />
        )}
      </span>
    </div>
  )
}

function versionText(row: Row): string {
  if (!('versionId' in row)) return ''
  const kind = row.isDeleteMarker ? 'delete marker' : row.isLatest ? 'current' : 'older'
  return `${kind} · ${row.versionId}`
}
