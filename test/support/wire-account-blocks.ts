/** How the public access block of the main account is set, read and taken back. */
import type { Ask } from './wire-client.ts'

export const kindsOfBlock = [
  'BlockPublicAcls',
  'IgnorePublicAcls',
  'BlockPublicPolicy',
  'RestrictPublicBuckets',
] as const

export const ofMain = { account: 'main', vendor: { 'account-id': 'main' } } as const

export const blockDocument = (...blocked: readonly string[]): string =>
  `<PublicAccessBlockConfiguration>${kindsOfBlock.map((name) => `<${name}>${blocked.includes(name)}</${name}>`).join('')}</PublicAccessBlockConfiguration>`
export const putBlock = (...blocked: readonly string[]): Ask => ({
  method: 'PUT',
  ...ofMain,
  body: blockDocument(...blocked),
})
export const getBlock: Ask = { method: 'GET', ...ofMain }
export const removeBlock: Ask = { method: 'DELETE', ...ofMain }
