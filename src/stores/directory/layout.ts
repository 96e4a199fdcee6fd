/** Where everything lies in a store's directory (ADR 0003). Pure. */
import { join } from 'node:path'

export const identityName = 'holdfast-store.json'

export const rootDirectories = ['segments', 'files', 'pending', 'dead'] as const

export class Layout {
  readonly root: string
  readonly segments: string
  readonly files: string
  readonly pending: string
  readonly dead: string
  readonly deleteRoom: string

  constructor(root: string) {
    this.root = root
    this.segments = join(root, 'segments')
    this.files = join(root, 'files')
    this.pending = join(root, 'pending')
    this.dead = join(root, 'dead')
    this.deleteRoom = join(root, 'holdfast-room')
  }

  segment(segment: string): string {
    return join(this.segments, segment)
  }

  batch(batch: string): string {
    return join(this.files, batch)
  }

  file(batch: string, name: string): string {
    return join(this.files, batch, name)
  }

  marker(name: string): string {
    return join(this.pending, name)
  }

  deadOf(segment: string): string {
    return join(this.dead, segment)
  }

  /** `name`: of a directory that names a fencing number. */
  fence(name: string): string {
    return join(this.root, name)
  }

  deadLog(segment: string, name: string): string {
    return join(this.dead, segment, name)
  }
}
