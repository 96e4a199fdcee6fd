/** What workers of the storm over several gateways share: their buckets, their tools, and how they take answers. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Answered, type Asked, NoAnswer, type StormClient } from './several-hosts-client.ts'

export const buckets = { registers: 'registers', owned: 'owned', versions: 'versions', listed: 'listed' } as const

export interface Worker {
  /** One piece of work. Rejects never: what is wrong is told to `violate`. */
  turn(): Promise<void>
  /** What is wrong now that nobody works any more. */
  verify(): Promise<void>
}

export interface Tools {
  client: StormClient
  random(): number
  violate(sentence: string): void
}

const afterSilenceMs = 100
export const below = ({ random }: Tools, max: number): number => Math.floor(random() * max)

/** `undefined`: nobody knows what became of it. */
export async function answered({ client }: Tools, asked: Asked): Promise<Answered | undefined> {
  try {
    return await client.ask(asked)
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    await delay(afterSilenceMs)
    return undefined
  }
}

export const told = ({ method, bucket, key }: Asked, { status, body }: Answered): string =>
  `${method} ${bucket}/${key} was answered ${status} ${body.subarray(0, 300)}`
