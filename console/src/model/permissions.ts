/** Decides what the console shows: only what the user may do. The server decides what is allowed; this hides what it would refuse. */
import { session } from './session.ts'

/** `operation`: the name of an admin operation. */
export const may = (operation: string): boolean => session.value?.operations.includes(operation) ?? false
