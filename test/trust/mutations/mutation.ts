/** What a mutation is: one small, wrong change of the source, and the suite that must notice it. */

export interface Mutation {
  /** What is wrong afterwards, as a person would say it. */
  name: string
  /** The room, and the file in it: below `src/`. */
  file: string
  /** Stands exactly once in the file. Short, so that other changes leave it alone. */
  find: string
  replace: string
  /** Below `test/`. */
  suite: string
  /** Only the tests whose names hold this, where the suite is long. */
  only?: string
}
