/** `holdfast health`: asks the server of this configuration whether it takes requests. For health checks of containers, which have no other client. */
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { ConfigurationError } from '../config/configuration-error.ts'
import { connectionFailure } from '../connection-failure.ts'
import { urlOf } from '../opening/listen-address.ts'
import type { Invocation } from './command.ts'
import { exitCodes } from './exit-codes.ts'

/** Health checks of containers usually wait longer. */
const answerMs = 5_000

export async function health({ configuration, json, print }: Invocation): Promise<number> {
  const { host, port } = configuration.listen
  if (port === 0)
    throw new ConfigurationError('the server listens on a port that the system picked: name it by --listen')
  const endpoint = urlOf(host, port, { secure: configuration.tls !== undefined })
  const problem = await problemOf(`${endpoint}/minio/health/ready`)
  const isReady = problem === undefined
  if (json) print(JSON.stringify({ event: 'health', endpoint, ready: isReady, problem }))
  else print(isReady ? `ready ${endpoint}` : `not ready ${endpoint}: ${problem}`)
  return isReady ? exitCodes.done : exitCodes.failed
}

/** `undefined`: the server takes requests. */
function problemOf(url: string): Promise<string | undefined> {
  // The certificate is for the names that clients use, not for this address. The request holds no secret.
  const request = url.startsWith('https:') ? requestHttps(url, { rejectUnauthorized: false }) : requestHttp(url)
  return new Promise((resolve) => {
    request.once('response', (response) => {
      response.resume()
      resolve(
        response.statusCode === 200
          ? undefined
          : `it answers with ${response.statusCode}${adviceOn(response.statusCode, url)}`,
      )
    })
    request.once('error', (error) => resolve(connectionFailure(error, { isSecure: url.startsWith('https:') })))
    request.setTimeout(answerMs, () => request.destroy(new Error(`no answer within ${answerMs / 1000} s`)))
    request.end()
  })
}

/** A port with TLS says 400 to plain HTTP. */
const adviceOn = (status: number | undefined, url: string): string =>
  status === 400 && url.startsWith('http:') ? '; if it speaks TLS, set --tls-cert and --tls-key as for the server' : ''
