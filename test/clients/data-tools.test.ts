/** Programs of data engineers, each through its own way to S3: the AWS SDK for C++, the object_store crate, DuckDB's own. */
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { describeClient } from './client-tools.ts'

const sessions: readonly [name: string, modules: string, script: string][] = [
  ['pyarrow', 'pyarrow.fs, pyarrow.parquet', 'pyarrow_session.py'],
  ['PyIceberg', 'boto3, pyarrow, pyiceberg.catalog.sql', 'pyiceberg_session.py'],
  ['delta-rs', 'boto3, pyarrow, deltalake', 'deltalake_session.py'],
  ['Polars', 'boto3, polars', 'polars_session.py'],
  ['DuckDB', 'boto3, duckdb_extensions, duckdb_extension_httpfs', 'duckdb_session.py'],
]

for (const [name, modules, script] of sessions) {
  describeClient(name, ['python3', '-c', `import ${modules}`], (at) => {
    it('works through a whole session', async () => {
      const path = fileURLToPath(new URL(script, import.meta.url))
      expect((await at.client('python3', path)).trim().split('\n').at(-1)).toBe('all well')
    })
  })
}
