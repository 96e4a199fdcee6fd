/** A plain table. Where the window is narrow, it scrolls on its own. */
import type { ComponentChildren } from 'preact'

export interface Column<T> {
  title: string
  /** Numbers are aligned to the right. */
  isNumber?: boolean
  show: (row: T) => ComponentChildren
}

export function Table<T>({
  caption,
  columns,
  rows,
  idOf,
}: {
  caption: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  idOf: (row: T) => string
}) {
  return (
    <div class="table-frame">
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={idOf(row)}>
              {columns.map(({ title, isNumber, show }) => (
                <td key={title} class={isNumber ? 'number' : ''}>
                  {show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
