/** Names with values that can be added, changed and removed, such as metadata or tags. */
import type { Signal } from '@preact/signals'
import { Button, IconButton } from './button.tsx'

export type PairList = readonly (readonly [string, string])[]

export const pairsOf = (record: Readonly<Record<string, string>>): PairList => Object.entries(record)

/** Ignores pairs without a name. */
export const recordOf = (pairs: PairList): Record<string, string> =>
  Object.fromEntries(pairs.filter(([name]) => name.trim() !== '').map(([name, value]) => [name.trim(), value]))

export function Pairs({ title, pairs }: { title: string; pairs: Signal<PairList> }) {
  const change = (index: number, pair: readonly [string, string]) => {
    pairs.value = pairs.value.map((each, i) => (i === index ? pair : each))
  }
  return (
    <fieldset>
      <legend>{title}</legend>
      {pairs.value.map(([name, value], i) => (
        // Rows have no identity, so their position is the key.
        <div class="bar pair" key={i}>
          <input
            aria-label={`Name ${i + 1}`}
            placeholder="Name"
            value={name}
            onInput={({ currentTarget }) => change(i, [currentTarget.value, value])}
          />
          <input
            aria-label={`Value ${i + 1}`}
            placeholder="Value"
            value={value}
            onInput={({ currentTarget }) => change(i, [name, currentTarget.value])}
          />
          <IconButton
            icon="trash"
            label={`Remove ${name}`}
            onClick={() => {
              pairs.value = pairs.value.filter((_, at) => at !== i)
            }}
          />
        </div>
      ))}
      <Button
        icon="plus"
        onClick={() => {
          pairs.value = [...pairs.value, ['', '']]
        }}
      >
        Add
      </Button>
    </fieldset>
  )
}
