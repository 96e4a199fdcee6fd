/** Receivers of JSON that the operator has named, and how it is posted to them. */

export interface JsonReceiver {
  url: string
  /** Sent as a bearer token. */
  token?: string | undefined
}

/** A receiver of events, which buckets name. */
export interface Webhook extends JsonReceiver {
  name: string
}

/** The status of the answer. `undefined`: there was none. Follows no redirect: the JSON goes only where the operator wants it. */
export async function postJson(
  { url, token }: JsonReceiver,
  body: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    const headers = new Headers({ 'content-type': 'application/json' })
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    const answer = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal })
    await answer.body?.cancel()
    return answer.status
  } catch {
    return undefined
  }
}

export const isTaken = (status: number | undefined): boolean => status !== undefined && status >= 200 && status < 300
