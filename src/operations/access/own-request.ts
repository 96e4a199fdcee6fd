/** What a request of the server itself has for the conditions of policies: it crosses no network. */
export const valuesOfOwnRequest = (nowMs: number): ReadonlyMap<string, string> =>
  new Map([
    ['aws:CurrentTime', new Date(nowMs).toISOString()],
    ['aws:EpochTime', String(Math.floor(nowMs / 1000))],
    ['aws:SecureTransport', 'true'],
  ])
