/** The console in Chromium: what a view costs the main thread of the page, and whether a list of many keys scrolls without a break. */
import { join } from 'node:path'
import { type Browser, type BrowserContext, type Locator, type Page, startBrowser } from '../test/console/browser.ts'
import { cloneObject, putFirst } from '../test/support/many-objects.ts'
import { describeMachine, settleDisk, withScratch } from './machine.ts'
import type { Say } from './measure.ts'
import type { BenchOptions } from './options.ts'
import { firstView } from './report/console-page.ts'
import {
  type ConsoleLoad,
  type ConsoleResults,
  type ConsoleScroll,
  type ConsoleView,
  formatVersion,
} from './results.ts'
import { type HoldfastServer, startHoldfast } from './servers/holdfast.ts'

const bucket = 'many'
const keyOf = (number: number): string => `key-${String(number).padStart(9, '0')}`
/** A longer task is one that users notice. */
const taskMsMax = 50
const viewport = { width: 1280, height: 800 }
/** How many notches of the wheel, and how many pixels each one scrolls. */
const wheel = { turns: 200, pixels: 1200 }
const jumps = 200

interface Visit {
  server: HoldfastServer
  browser: Browser
  say: Say
}

export async function measureConsole(options: BenchOptions, say: Say): Promise<ConsoleResults> {
  const { objects: keys, rounds, quick } = options
  return withScratch(options.directory, async (directory) => {
    const data = join(directory, 'data')
    await fill(data, keys)
    say(`${keys.toLocaleString('en')} keys`)
    settleDisk()
    const server = await startHoldfast('holdfast', { data, admin: true })
    const browser = await startBrowser()
    const visit = { server, browser, say }
    try {
      const views = await measureViews(visit, rounds)
      const scrolls = await measureScrolls(visit, keys)
      const machine = describeMachine(options.directory)
      return { format: formatVersion, machine, browser: `Chromium ${browser.version()}`, quick, keys, views, scrolls }
    } finally {
      await browser.close()
      await server.close()
    }
  })
}

/** One object under many names. */
async function fill(data: string, count: number): Promise<void> {
  const server = await startHoldfast('holdfast', { data })
  const { host, port, accessKeyId, secretAccessKey } = server.endpoint
  const credentials = { accessKeyId, secretAccessKey }
  await putFirst({ endpoint: `http://${host}:${port}`, credentials }, { bucket, key: keyOf(0) })
  await server.close()
  await cloneObject(data, { bucket, key: keyOf(0), count, name: keyOf })
}

const placeOf = ({ server }: Visit, place = ''): string => `${server.adminEndpoint}#/${place}`

async function measureViews(visit: Visit, rounds: number): Promise<ConsoleView[]> {
  const kinds: readonly { name: string; place: string; isThere: (page: Page) => Locator; isLoggedIn: boolean }[] = [
    { name: firstView, place: '', isThere: (page) => page.getByLabel('Secret key'), isLoggedIn: false },
    {
      name: 'buckets',
      place: 'buckets',
      isThere: (page) => page.getByRole('link', { name: bucket, exact: true }),
      isLoggedIn: true,
    },
    {
      name: 'objects',
      place: `bucket/${bucket}/objects`,
      isThere: (page) => page.getByText(keyOf(0)),
      isLoggedIn: true,
    },
  ]
  const views: ConsoleView[] = []
  for (const { name, place, isThere, isLoggedIn } of kinds) {
    const loads: ConsoleLoad[] = []
    for (let round = 0; round < rounds; round++) {
      const context = await visit.browser.newContext({ viewport })
      if (isLoggedIn) await logIn(visit, context)
      loads.push(await measureLoad(visit.browser, context, placeOf(visit, place), isThere))
      await context.close()
    }
    visit.say(`${name}: ${loads.map(({ mainThreadMs }) => mainThreadMs.toFixed(0)).join(', ')} ms`)
    views.push({ name, rounds: loads })
  }
  return views
}

/** Logs in, so that the context holds the cookie of a session. */
async function logIn(visit: Visit, context: BrowserContext): Promise<Page> {
  const { accessKeyId, secretAccessKey } = visit.server.endpoint
  const page = await context.newPage()
  await page.goto(placeOf(visit))
  await page.getByLabel('Access key').fill(accessKeyId)
  await page.getByLabel('Secret key').fill(secretAccessKey)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { name: 'Buckets', level: 1 }).waitFor()
  return page
}

async function measureLoad(
  browser: Browser,
  context: BrowserContext,
  address: string,
  isThere: (page: Page) => Locator,
): Promise<ConsoleLoad> {
  const page = await context.newPage()
  const network = await context.newCDPSession(page)
  await network.send('Network.enable')
  await network.send('Network.setCacheDisabled', { cacheDisabled: true })
  let bytes = 0
  network.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  const tasks = await tasksDuring(browser, page, async () => {
    await page.goto(address)
    await isThere(page).waitFor()
    await idle(page)
  })
  return { mainThreadMs: tasks.reduce((sum, task) => sum + task, 0), longestTaskMs: Math.max(...tasks), bytes }
}

/** Resolves when the page has nothing left to do. */
const idle = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestIdleCallback(resolve)))')

async function measureScrolls(visit: Visit, keys: number): Promise<ConsoleScroll[]> {
  const context = await visit.browser.newContext({ viewport })
  const page = await logIn(visit, context)
  page.setDefaultTimeout(600_000)
  await page.goto(placeOf(visit, `bucket/${bucket}/objects`))
  const grid = page.getByRole('grid', { name: 'Objects' })
  await grid.hover()
  const scrolls: ConsoleScroll[] = []
  const measure = async (name: string, scroll: () => Promise<unknown>): Promise<void> => {
    const tasks = await tasksDuring(visit.browser, page, async () => {
      await scroll()
      await idle(page)
    })
    const longestTaskMs = Math.max(...tasks)
    const blockingMs = tasks.reduce((sum, task) => sum + Math.max(0, task - taskMsMax), 0)
    visit.say(`${name}: ${longestTaskMs.toFixed(1)} ms at most`)
    scrolls.push({ name, tasks: tasks.length, longestTaskMs, blockingMs })
  }
  const turn = async (direction: 1 | -1): Promise<void> => {
    for (let i = 0; i < wheel.turns; i++) {
      await page.mouse.wheel(0, direction * wheel.pixels)
      await nextFrame(page)
    }
  }
  await measure('by wheel, while pages come', () => turn(1))
  await grid.focus()
  await measure('to the end by key, while all pages come', () => toTheEnd(page, grid, keys))
  await measure('by wheel, from the end', () => turn(-1))
  await measure('by scroll bar, back and forth', () => page.evaluate(jumpAround(jumps)))
  await context.close()
  return scrolls
}

const nextFrame = (page: Page): Promise<unknown> => page.evaluate('new Promise(requestAnimationFrame)')

async function toTheEnd(page: Page, grid: Locator, keys: number): Promise<void> {
  for (;;) {
    const loaded = Number(await grid.getAttribute('aria-rowcount'))
    if (loaded >= keys) break
    await page.keyboard.press('End')
    await page.locator(`[role=grid]:not([aria-rowcount="${loaded}"])`).waitFor()
  }
  await page.keyboard.press('End')
  await page.getByText(keyOf(keys - 1)).waitFor()
}

/** Scrolls to another position in each frame: one end, the middle, the other end. */
const jumpAround = (count: number): string => `(async () => {
  const list = document.querySelector('[role=grid]')
  for (let i = 0; i < ${count}; i++) {
    list.scrollTop = list.scrollHeight * ((i * 0.618) % 1)
    await new Promise(requestAnimationFrame)
  }
})()`

interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  dur?: number
  args?: { name?: string }
}

/** How long each task of the page's main thread took, in milliseconds. If several threads have that name, the page's is the one that works. */
async function tasksDuring(browser: Browser, page: Page, work: () => Promise<unknown>): Promise<number[]> {
  await browser.startTracing(page, { categories: ['__metadata', 'disabled-by-default-devtools.timeline'] })
  await work()
  const trace: { traceEvents: TraceEvent[] } = JSON.parse((await browser.stopTracing()).toString())
  const threads = new Map<string, number[]>()
  for (const { name, args, pid, tid } of trace.traceEvents)
    if (name === 'thread_name' && args?.name === 'CrRendererMain') threads.set(`${pid} ${tid}`, [])
  for (const { name, ph, pid, tid, dur = 0 } of trace.traceEvents)
    if (name === 'RunTask' && ph === 'X') threads.get(`${pid} ${tid}`)?.push(dur / 1000)
  const busiest = [...threads.values()].sort((a, b) => b.length - a.length)[0]
  if (busiest === undefined || busiest.length === 0) throw new Error('the browser traced no task of the page')
  return busiest
}
