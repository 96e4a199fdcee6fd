/** A real Chromium, driven from outside. It runs no test by itself. */
import { spawnSync } from 'node:child_process'
import { type Browser, chromium } from 'playwright-core'

export type { Browser, BrowserContext, Locator, Page } from 'playwright-core'

/** Debian's Chromium, or the one that the environment names. */
const executablePath =
  process.env.HOLDFAST_TEST_CHROMIUM ?? spawnSync('which', ['chromium'], { encoding: 'utf8' }).stdout.trim()

/** The superuser's Chromium has no sandbox for pages. The pages here are the suite's own. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
