/** Lifecycle documents, as requests carry them. */
import { putDocument } from './wire-documents.ts'

/** `rules`: what is in the Rule elements. */
export const lifecycleDocument = (...rules: string[]): string =>
  `<LifecycleConfiguration>${rules.map((rule) => `<Rule>${rule}</Rule>`).join('')}</LifecycleConfiguration>`

export const putLifecycle = (...rules: string[]) => putDocument({ lifecycle: '' }, lifecycleDocument(...rules))
