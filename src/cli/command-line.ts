/** Runs the command that the command line names, and ends the process. */
import { z } from 'zod'
import { makeSchemasWith } from '../lazy-schema.ts'
import { flushLog } from './log.ts'
import { runCli } from './program.ts'

// The reader of the output may leave, as in `holdfast serve | head`, or its disk may be full. The server continues.
let isOutputLost = false
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') isOutputLost = true
})
process.stderr.on('error', () => {})

makeSchemasWith(z)
const exitCode = await runCli(process.argv.slice(2))
process.exitCode = exitCode === 0 && isOutputLost ? 1 : exitCode
await flushLog()
// Only things that the command does not wait for are still open, such as idle connections.
process.exit()
