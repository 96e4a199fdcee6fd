/** The AWS SDK for JavaScript as a user has it, pointed at a server under test. */
import { Agent } from 'node:http'
import { Md5 } from '@aws-sdk/checksums/md5'
import { Sha512 } from '@aws-sdk/checksums/sha'
import { Xxh3_64, Xxh3_128, Xxh64 } from '@aws-sdk/checksums/xxh'
import { S3Client, type S3ClientConfig, type ServiceInputTypes, type ServiceOutputTypes } from '@aws-sdk/client-s3'
import type { SigningKey } from './signer.ts'
import type { Style } from './wire-client.ts'
import { mainKey } from './wire-server.ts'

type Command<I extends ServiceInputTypes, O extends ServiceOutputTypes> = Parameters<
  typeof S3Client.prototype.send<I, O>
>[0]

/** A call of the SDK, and what it gives beside the status. */
export interface SdkCall {
  send(client: S3Client, fill: <T>(input: T) => T): Promise<object>
  output: object
}

export function sdk<I extends ServiceInputTypes, O extends ServiceOutputTypes>(
  Make: new (input: I) => Command<I, O>,
  input: I,
  output: object = {},
): SdkCall {
  return { send: (client, fill) => client.send(new Make(fill(input))), output }
}

/** The SDK computes these once it is given its own implementations. */
export const checksumAlgorithms = { MD5: Md5, SHA512: Sha512, XXHASH64: Xxh64, XXHASH3: Xxh3_64, XXHASH128: Xxh3_128 }

export function openSdk(port: number, hosting: Style['hosting'], config: S3ClientConfig & { key?: SigningKey } = {}) {
  const { key = mainKey, ...rest } = config
  // Not every resolver knows the names under localhost.
  const agent = new Agent({
    keepAlive: true,
    lookup: (_host, options, found) =>
      options.all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4),
  })
  return new S3Client({
    endpoint: `http://localhost:${port}`,
    region: 'us-east-1',
    // The SDK writes into what it is given.
    credentials: { ...key },
    forcePathStyle: hosting === 'path',
    requestHandler: { httpAgent: agent },
    maxAttempts: 1,
    checksumAlgorithms,
    ...rest,
  })
}
