/** Variables that begin as this program's do, but that nothing reads: most often a mistyped name. A start warns of them. Pure. */
import { credentialPairs, optionNames, options } from './options.ts'
import { didYouMean } from './suggestion.ts'

const prefix = 'HOLDFAST_'

const furtherNames = [
  'HOLDFAST_KEY_RING',
  'HOLDFAST_IMPORT_ACCESS_KEY_ID',
  'HOLDFAST_IMPORT_SECRET_ACCESS_KEY',
  'HOLDFAST_IMPORT_SESSION_TOKEN',
]

/** Kubernetes and Docker set variables of this form for a service or a container that is called `holdfast…`. */
const ofService =
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP)(?:_(?:PROTO|PORT|ADDR))?)?|ENV_\w+|NAME)$/

/** Each name that is set, with the name that was probably meant. */
export function unknownVariables(environment: NodeJS.ProcessEnv): string[] {
  const known = new Set([
    ...optionNames.flatMap((name) => options[name].environment),
    ...credentialPairs.flat(),
    ...furtherNames,
  ])
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && environment[name] && !known.has(name) && !ofService.test(name))
    .sort()
    .map((name) => `${name}${suggestion(name, known)}`)
}

/** All names begin alike, so only their rests are compared. */
function suggestion(name: string, known: Iterable<string>): string {
  const rests = [...known]
    .filter((candidate) => candidate.startsWith(prefix))
    .map((candidate) => candidate.slice(prefix.length))
  return didYouMean(name.slice(prefix.length), rests).replace("'", `'${prefix}`)
}
