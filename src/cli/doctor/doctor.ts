/** `holdfast doctor`: finds out what lies between a client and the server, and breaks what S3 needs. */
import { readFileSync } from 'node:fs'
import { systemClock } from '../../clock.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { urlOf } from '../../opening/listen-address.ts'
import { keyOf } from '../admin/admin-target.ts'
import type { Invocation } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { originUrl } from '../flag-values.ts'
import { PinnedAgent } from '../pinned-agent.ts'
import type { Patient } from './asking.ts'
import { checks, type Finding } from './checks.ts'

const marks: Readonly<Record<Finding['state'], string>> = { well: '✓', warning: '!', ill: '✗', unknown: '-' }

export async function doctor(invocation: Invocation): Promise<number> {
  const { json, print } = invocation
  const patient = await patientOf(invocation)
  // Nobody has a bucket of this name, so no request does anything.
  const bucket = `holdfast-doctor-${systemClock.random(6).toString('hex')}`
  let isWell = true
  for (const { name, run, isVital } of checks) {
    const finding = await run(patient, bucket)
    if (finding.state === 'ill') isWell = false
    if (json) print(JSON.stringify({ event: 'check', endpoint: patient.url.origin, check: name, ...finding }))
    else {
      print(`${marks[finding.state]} ${name}: ${finding.says}`)
      if (finding.advice !== undefined) print(`  ${finding.advice}`)
    }
    if (finding.state === 'ill' && isVital) break
  }
  return isWell ? exitCodes.done : exitCodes.failed
}

/** Throws `ConfigurationError`. */
async function patientOf({ configuration, words }: Invocation): Promise<Patient> {
  const [given, ...more] = words
  if (more.length > 0) throw new ConfigurationError('expects one URL, such as https://s3.example.com')
  const { key } = await keyOf(configuration)
  const { region, listen, tls, publicEndpoints } = configuration
  const named = given ?? publicEndpoints[0]
  if (named !== undefined) return { url: originUrl('the server to ask', named), key, region, agent: undefined }
  const url = new URL(urlOf(listen.host, listen.port, { secure: tls !== undefined }))
  return { url, key, region, agent: tls && new PinnedAgent(readFileSync(tls.cert, 'utf8')) }
}
