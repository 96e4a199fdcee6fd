#!/usr/bin/env node
/** The entry of the command line. It imports the rest so that it can say what is wrong where not even that can be read. */
import './serving/no-debugger.ts'

try {
  await import('./command-line.ts')
} catch (error) {
  if (!(error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE'))) throw error
  const limit =
    error.code === 'EMFILE'
      ? 'this process may open too few files: raise its limit to 1024 or more (`ulimit -n`, or LimitNOFILE= of systemd)'
      : 'the machine has too many files open: raise its limit (`sysctl fs.file-max`)'
  process.stderr.write(`holdfast: ${limit}\n`)
  process.exit(1)
}
