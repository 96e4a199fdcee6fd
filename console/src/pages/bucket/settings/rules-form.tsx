/** A form for the rules of a configuration, which can be added and removed. Saving none of them turns the configuration off. */
import { useSignal, useSignalEffect } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { removeConfiguration } from '../../../api/buckets.ts'
import { Button } from '../../../ui/button.tsx'
import { TextField } from '../../../ui/fields.tsx'
import { SettingForm } from './panel.tsx'

interface FormParts<T> {
  bucket: string
  /** The sub-resource that is deleted when no rule is left. Absent: an empty list is put. */
  part?: string
  rules: readonly T[]
  newRule: T
  put: (bucket: string, rules: readonly T[]) => Promise<void>
  reload: () => Promise<void>
  /** Says what the rules do, or what it means that there are none. */
  says: (count: number) => ComponentChildren
  /** The fields of one rule. */
  children: (rule: T, change: (rule: T) => void) => ComponentChildren
}

export function RulesForm<T>({ bucket, part, rules, newRule, put, reload, says, children }: FormParts<T>) {
  const edited = useSignal(rules)
  const save = async () => {
    if (edited.value.length === 0 && part !== undefined) await removeConfiguration(bucket, part)
    else await put(bucket, edited.value)
    await reload()
  }
  return (
    <SettingForm onSubmit={save}>
      {says(edited.value.length)}
      {edited.value.map((rule, i) => (
        <fieldset key={`${i}-${edited.value.length}`}>
          <legend>Rule {i + 1}</legend>
          {children(rule, (changed) => {
            edited.value = edited.value.map((each, j) => (j === i ? changed : each))
          })}
          <Button
            icon="trash"
            kind="danger"
            onClick={() => {
              edited.value = edited.value.filter((_, j) => j !== i)
            }}
          >
            Remove rule {i + 1}
          </Button>
        </fieldset>
      ))}
      <p>
        <Button
          icon="plus"
          onClick={() => {
            edited.value = [...edited.value, newRule]
          }}
        >
          Add a rule
        </Button>
      </p>
    </SettingForm>
  )
}

interface FieldParts {
  label: string
  text: string
  type?: 'text' | 'number'
  hint?: string
  required?: boolean
  onChange: (text: string) => void
}

/** A field of a rule. The rule keeps its text. */
export function RuleField({ label, text: given, type = 'text', onChange, ...input }: FieldParts) {
  const text = useSignal(given)
  useSignalEffect(() => {
    if (text.value !== given) onChange(text.value)
  })
  return <TextField label={label} type={type} value={text} {...input} {...(type === 'number' ? { min: 1 } : {})} />
}
