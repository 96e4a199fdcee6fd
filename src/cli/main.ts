#!/usr/bin/env node
/** The entry of the command line. */
import { runCli } from './program.ts'

process.exitCode = await runCli(process.argv.slice(2))
// What outlives a command is only what it chose to wait for no longer, such as idle connections.
process.exit()
