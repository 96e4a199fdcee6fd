/** Which forms of a test run: all in `npm run trust`, in turn in `npm test`. */

/** The numbers of `npm run trust`. */
export const isTrust = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1') > 1

/**
 * The tests that run in one of several forms. In `npm test` each runs in one form: the first in the first, the second in the second, and so on. So every
 * test runs, and every form of as many tests as there are forms. `shift` begins with another form. Empty for a form that is none of them.
 */
export function inTurn<T, Form>(tests: readonly T[], forms: readonly Form[], form: Form, shift = 0): readonly T[] {
  const turn = forms.indexOf(form)
  if (turn < 0) return []
  return isTrust ? tests : tests.filter((_, at) => (at + shift) % forms.length === turn)
}
