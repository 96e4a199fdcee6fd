/** What the console shows: only what its user may do. The server decides; this hides what it would refuse. */
import { session } from './session.ts'

/** `operation`: of the admin port. */
export const may = (operation: string): boolean => session.value?.operations.includes(operation) ?? false
