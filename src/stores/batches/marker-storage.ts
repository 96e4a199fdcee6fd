/** Where a store keeps the markers of batches. Each kind of store implements it in a few lines. */
export interface MarkerStorage {
  /** Durable when it resolves. */
  create(name: string): Promise<void>
  /** Unordered. Also names that are no markers. */
  list(): Promise<string[]>
  /**
   * Gives a marker another name. A crash can undo it or leave both. Does nothing when the old one is missing, because another process has replaced it; a store that
   * can't tell makes the new one nevertheless.
   */
  replace(name: string, by: string): Promise<void>
  /** Durable when it resolves. Missing ones are no error. */
  remove(names: readonly string[]): Promise<void>
}
