#!/usr/bin/env node
/** The entry of the command line. */
import { runCli } from './program.ts'

// Who reads what is printed may go, as in `holdfast serve | head`; the server serves on.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await runCli(process.argv.slice(2))
// What outlives a command is only what it chose to wait for no longer, such as idle connections.
process.exit()
