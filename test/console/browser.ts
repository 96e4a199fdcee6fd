/** A real Chromium, driven from outside. It runs no test by itself. */
import { spawnSync } from 'node:child_process'
import { type Browser, chromium } from 'playwright-core'

export type { Browser, BrowserContext, Locator, Page } from 'playwright-core'

/** Debian's, or the one that the environment names. */
const executablePath =
  process.env.HOLDFAST_TEST_CHROMIUM ?? spawnSync('which', ['chromium'], { encoding: 'utf8' }).stdout.trim()

/** A root user has no sandbox for pages; the pages are the suite's own. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
