/** Tells systemd the state of the server by the protocol of `sd_notify`. Does nothing if systemd is not listening. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Log } from '../log.ts'

export interface Systemd {
  /** The server serves: at its start, or again after `reloading`. Starts the watchdog's signs of life. */
  ready(status: string): void
  reloading(): void
  stopping(): void
}

const run = promisify(execFile)
const messageTimeoutMs = 10_000

/**
 * Node cannot send datagrams to a Unix socket, so `systemd-notify`, which comes with systemd, sends them. It waits until systemd has read each message.
 * Only the primary process may call this, and `NotifyAccess=all` must allow messages of its children.
 */
export function openSystemd(environment: NodeJS.ProcessEnv, log: Log): Systemd {
  const { NOTIFY_SOCKET, PATH = '/usr/bin:/bin', WATCHDOG_USEC, WATCHDOG_PID } = environment
  if (!NOTIFY_SOCKET) return { ready: () => {}, reloading: () => {}, stopping: () => {} }

  let isFailureLogged = false
  /** The messages go out one after the other: `READY=1` after a reload must not overtake `RELOADING=1`. */
  let sent: Promise<void> = Promise.resolve()
  const send = (...assignments: string[]): void => {
    sent = sent.then(async () => {
      try {
        // The variables of the server hold secrets, so the program does not get them.
        await run('systemd-notify', assignments, { env: { NOTIFY_SOCKET, PATH }, timeout: messageTimeoutMs })
      } catch (error) {
        if (!isFailureLogged) log.warn({ err: error }, 'systemd could not be told the state of the server')
        isFailureLogged = true
      }
    })
  }
  const watchdogMs = watchdogTimeMs(WATCHDOG_USEC, WATCHDOG_PID)
  let watchdog: NodeJS.Timeout | undefined
  return {
    ready: (status) => {
      send('READY=1', `STATUS=${status}`)
      // The timer runs in the event loop, so a server that hangs sends nothing.
      if (watchdogMs !== undefined) watchdog ??= setInterval(send, watchdogMs / 2, 'WATCHDOG=1').unref()
    },
    reloading: () => send('RELOADING=1', 'STATUS=reading the configuration again'),
    stopping: () => {
      clearInterval(watchdog)
      send('STOPPING=1', 'STATUS=finishing the requests under way')
    },
  }
}

/** Milliseconds of silence after which systemd takes a process to be hung. `undefined`: systemd does not watch this process. */
function watchdogTimeMs(microseconds: string | undefined, pid: string | undefined): number | undefined {
  if (pid !== undefined && pid !== String(process.pid)) return undefined
  const timeMs = Number(microseconds) / 1000
  return timeMs > 0 ? timeMs : undefined
}
