#!/usr/bin/env node
/** The entry of the command line. */
import './no-debugger.ts'
import { flushLog } from './log.ts'
import { runCli } from './program.ts'

// Who reads what is printed may go, as in `holdfast serve | head`, or the disk that it goes to may be full; the server serves on.
let isOutputLost = false
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') isOutputLost = true
})
process.stderr.on('error', () => {})

const exitCode = await runCli(process.argv.slice(2))
process.exitCode = exitCode === 0 && isOutputLost ? 1 : exitCode
await flushLog()
// What outlives a command is only what it chose to wait for no longer, such as idle connections.
process.exit()
