/** Thrown when the metadata file is not what was written. */
export class MetadataDamaged extends Error {
  constructor(what: string) {
    super(what)
    this.name = 'MetadataDamaged'
  }
}
