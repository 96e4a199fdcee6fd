import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { ConsoleResults } from '../../bench/results.ts'
import { describeInstalled } from '../support/installed.ts'

const main = fileURLToPath(new URL('../../dist/bench/main.js', import.meta.url))

describeInstalled('a short run of console', [['chromium', '--version']], () => {
  it('sees every view and every way through the list, and writes the page', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-test-'))
    try {
      const [json, docs] = [join(directory, 'results.json'), join(directory, 'docs')]
      const words = ['console', '--quick', '--objects', '3000', '--dir', directory, '--json', json, '--docs', docs]
      const { stdout } = await promisify(execFile)(process.execPath, [main, ...words])
      const { keys, views, scrolls }: ConsoleResults = JSON.parse(readFileSync(json, 'utf8'))
      expect([keys, views.map(({ name }) => name)]).toEqual([3000, ['log-in', 'buckets', 'objects']])
      for (const { rounds } of views) {
        for (const { mainThreadMs, longestTaskMs, bytes } of rounds) {
          expect(mainThreadMs).toBeGreaterThan(longestTaskMs)
          expect(bytes).toBeGreaterThan(1_000)
        }
      }
      expect(scrolls).toHaveLength(4)
      // Each way makes frames, and each frame is a task.
      for (const { tasks } of scrolls) expect(tasks).toBeGreaterThan(2)
      expect(stdout).toContain('longest task while it scrolls')
      expect(readFileSync(join(docs, 'benchmarks/console.md'), 'utf8')).toContain('A list of 3,000 keys')
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
