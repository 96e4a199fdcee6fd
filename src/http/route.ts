/** Finds the operation that a request means. Compiled from the declarations at start, and independent of their order. */
import type { Method, Operation, Route, Target } from '../contract/operation.ts'
import { argumentWithoutValue, invalidArgument, S3Error } from '../errors.ts'
import type { Address, QueryParameter } from './address.ts'
import type { VendorValues } from './dialect.ts'

/** The part of an operation that routing needs. */
export type Routed = Route & Pick<Operation<never>, 'name' | 'input'>

interface Requirement {
  name: string
  /** `undefined`: its presence is enough. */
  value: string | undefined
}

interface Candidate<T> {
  found: T
  name: string
  query: readonly Requirement[]
  vendorHeaders: readonly string[]
  /** How much the candidate requires. The one that requires most wins. */
  specificity: number
  /** The parameters that the operation uses, besides those that any request may carry. */
  parameters: ReadonlySet<string>
}

/** The operations of one method and target. */
interface Candidates<T> {
  /** Candidates that require nothing. */
  plain: Candidate<T> | undefined
  /** Candidates that require something; those that require most come first. */
  special: Candidate<T>[]
}

export type Router<T> = (
  method: string,
  address: Address,
  query: readonly QueryParameter[],
  vendorValues: VendorValues,
) => T

/** SDKs name the operation in this parameter of many requests. It counts only where nothing else distinguishes two operations. */
const operationId = 'x-id'

/** Tells the listings from each other, and is no sub-resource: with another value than theirs, it means nothing. */
const listType = 'list-type'

type Refusal = (name: string, value: string) => S3Error

/** S3's words where a sub-resource means nothing, if it does not only say that there is no such method. By method, target and sub-resource. */
const misplaced: ReadonlyMap<string, Refusal> = new Map<string, Refusal>([
  ['GET object uploads', () => invalidRequest('Key is not expected for the GET method ?uploads subresource')],
  ['GET object versions', () => invalidRequest('There is no such thing as the ?versions sub-resource for a key')],
  [
    'PUT object partNumber',
    (name, value) => invalidArgument(name, value, 'This operation does not accept partNumber without uploadId'),
  ],
])

const invalidRequest = (message: string): S3Error => new S3Error('InvalidRequest', { message })

/** Where the page begins, in the words of the other listing: a client would get the same page for ever. By operation and parameter. */
const ofOtherListing: ReadonlyMap<string, string> = new Map([
  ['ListObjects continuation-token', 'continuation-token only supported in REST.GET.BUCKET with list-type=2'],
  ['ListObjects start-after', 'startAfter only supported in REST.GET.BUCKET with list-type=2'],
  ['ListObjectsV2 marker', 'Marker unsupported with REST.GET.BUCKET in list-type=2'],
])

/** Names of sub-resources in errors, where S3's are not the parameter's own in capitals. By target and sub-resource. */
const resourceTypes: ReadonlyMap<string, string> = new Map([
  ['bucket abac', 'BUCKET_ABAC'],
  ['bucket delete', 'MULTI_OBJECT_DELETE'],
  ['bucket intelligent-tiering', 'INTELLIGENT_TIERING'],
  ['bucket logging', 'LOGGING_STATUS'],
  ['bucket metadataAnnotationTable', 'BUCKET_METADATA_ANNOTATION_TABLE_CONFIGURATION'],
  ['bucket metadataConfiguration', 'BUCKET_METADATA_CONFIGURATION'],
  ['bucket metadataInventoryTable', 'BUCKET_METADATA_INVENTORY_TABLE_CONFIGURATION'],
  ['bucket metadataJournalTable', 'BUCKET_METADATA_JOURNAL_TABLE_CONFIGURATION'],
  ['bucket metadataTable', 'BUCKET_METADATA_TABLE_CONFIGURATION'],
  ['bucket object-lock', 'OBJECT_LOCK_CONFIGURATION'],
  ['bucket ownershipControls', 'OWNERSHIP_CONTROLS'],
  ['bucket policy', 'BUCKETPOLICY'],
  ['bucket policyStatus', 'POLICY_STATUS'],
  ['bucket publicAccessBlock', 'PUBLIC_ACCESS_BLOCK'],
  ['bucket requestPayment', 'REQUEST_PAYMENT'],
  ['bucket uploadId', 'UPLOAD'],
  ['bucket versions', 'BUCKETVERSIONS'],
  ['object annotation', 'OBJECT_ANNOTATIONS'],
  ['object attributes', 'OBJECT_ATTRIBUTES'],
  ['object delete', 'MULTI_OBJECT_DELETE'],
  ['object encryption', 'OBJECT_ENCRYPTION'],
  ['object legal-hold', 'OBJECT_LOCK_LEGALHOLD'],
  ['object retention', 'OBJECT_LOCK_RETENTION'],
  ['object tagging', 'OBJECT_TAGGING'],
  ['object uploadId', 'UPLOAD'],
])

/** Throws when two operations have the same requirements, because no request could tell them apart. */
export function compileRoutes<T>(entries: readonly T[], routeOf: (entry: T) => Routed): Router<T> {
  const table = new Map<string, Map<Target, Candidates<T>>>()
  const subResources = new Set<string>()
  for (const entry of entries) {
    const route = routeOf(entry)
    const candidate = candidateOf(entry, route)
    // Only the first parameter is a sub-resource. The others choose an operation on it, and mean nothing alone: any client may send `?id=`.
    const [subResource] = candidate.query
    if (subResource !== undefined && subResource.name !== operationId) subResources.add(subResource.name)
    addCandidate(table, route.method, route.target, candidate)
  }
  const router = new RouteTable(table, subResources)
  return (method, address, query, vendorValues) => router.find(method, address, query, vendorValues)
}

function candidateOf<T>(found: T, route: Routed): Candidate<T> {
  const query = route.query.map((text) => {
    const equals = text.indexOf('=')
    return equals === -1
      ? { name: text, value: undefined }
      : { name: text.slice(0, equals), value: text.slice(equals + 1) }
  })
  const inputs = Object.values(route.input).filter((field) => field.in === 'query')
  return {
    found,
    name: route.name,
    query,
    vendorHeaders: route.vendorHeaders,
    specificity: query.length + route.vendorHeaders.length,
    parameters: new Set([...query.map(({ name }) => name), ...inputs.map(({ name }) => name)]),
  }
}

function addCandidate<T>(
  table: Map<string, Map<Target, Candidates<T>>>,
  method: Method,
  target: Target,
  candidate: Candidate<T>,
): void {
  const ofMethod = table.get(method) ?? new Map<Target, Candidates<T>>()
  table.set(method, ofMethod)
  const candidates = ofMethod.get(target) ?? { plain: undefined, special: [] }
  ofMethod.set(target, candidates)
  const others = candidates.plain === undefined ? candidates.special : [candidates.plain, ...candidates.special]
  const twin = others.find((other) => requirementsOf(other) === requirementsOf(candidate))
  if (twin !== undefined) throw new Error(`${candidate.name} and ${twin.name} answer the same ${method} requests`)
  if (candidate.specificity === 0) candidates.plain = candidate
  else candidates.special.push(candidate)
  candidates.special.sort((a, b) => b.specificity - a.specificity)
}

function requirementsOf({ query, vendorHeaders }: Candidate<unknown>): string {
  return JSON.stringify([query.map(({ name, value }) => [name, value]).sort(), [...vendorHeaders].sort()])
}

class RouteTable<T> {
  #table: ReadonlyMap<string, ReadonlyMap<Target, Candidates<T>>>
  #subResources: ReadonlySet<string>

  constructor(table: ReadonlyMap<string, ReadonlyMap<Target, Candidates<T>>>, subResources: ReadonlySet<string>) {
    this.#table = table
    this.#subResources = subResources
  }

  /** Throws MethodNotAllowed, InvalidRequest when the request means two operations, InvalidArgument. */
  find(method: string, address: Address, query: readonly QueryParameter[], vendorValues: VendorValues): T {
    const { target } = address
    // The service has no sub-resources.
    const subResources = target === 'service' ? [] : this.#subResourcesIn(query)
    if (subResources.length > 1 && !isPartOfUpload(subResources)) throw conflicting(subResources)
    const candidates = this.#table.get(method)?.get(target)
    const chosen = candidates === undefined ? undefined : choose(candidates, query, vendorValues)
    if (chosen === undefined) throw this.#methodNotAllowed(method, target, subResources[0])
    for (const parameter of query) this.#checkMeant(parameter, chosen, method, target)
    return chosen.found
  }

  #subResourcesIn(query: readonly QueryParameter[]): string[] {
    const names = query.flatMap(({ name }) => (this.#subResources.has(name) && name !== listType ? [name] : []))
    return names.length > 1 ? [...new Set(names)].sort() : names
  }

  /** Refuses a sub-resource that the chosen operation does not know, so that `PUT /key?acl` never overwrites the object. */
  #checkMeant({ name, value }: QueryParameter, chosen: Candidate<T>, method: string, target: Target): void {
    const otherListing = ofOtherListing.get(`${chosen.name} ${name}`)
    if (otherListing !== undefined) throw argumentWithoutValue(name, otherListing)
    if (!this.#subResources.has(name) || chosen.parameters.has(name) || this.#distinguishes(method, target, name))
      return
    throw misplaced.get(`${method} ${target} ${name}`)?.(name, value) ?? this.#methodNotAllowed(method, target, name)
  }

  /** A parameter that means something with one value only means nothing with another, as S3 reads `list-type`. */
  #distinguishes(method: string, target: Target, name: string): boolean {
    const special = this.#table.get(method)?.get(target)?.special ?? []
    return special.some(({ query }) => query.some((required) => required.name === name && required.value !== undefined))
  }

  #methodNotAllowed(method: string, target: Target, subResource?: string): S3Error {
    const allowed = [...this.#table].filter(([, ofMethod]) => {
      const candidates = ofMethod.get(target)
      if (candidates === undefined || subResource === undefined) return candidates !== undefined
      return candidates.special.some(({ query }) => query.some(({ name }) => name === subResource))
    })
    return new S3Error('MethodNotAllowed', {
      details: { Method: method, ResourceType: resourceTypeOf(target, subResource) },
      headers: { Allow: allowed.map(([name]) => name).join(', ') },
    })
  }
}

/** The one pair of sub-resources that means something. */
const isPartOfUpload = ([first, second, ...more]: readonly string[]): boolean =>
  first === 'partNumber' && second === 'uploadId' && more.length === 0

function conflicting(subResources: readonly string[]): S3Error {
  const message = `Conflicting query string parameters: ${subResources.join(', ')}`
  return invalidArgument('ResourceType', subResources[0] ?? '', message)
}

function resourceTypeOf(target: Target, subResource: string | undefined): string {
  if (subResource === undefined) return target.toUpperCase()
  return resourceTypes.get(`${target} ${subResource}`) ?? subResource.toUpperCase()
}

function choose<T>(
  { plain, special }: Candidates<T>,
  query: readonly QueryParameter[],
  vendorValues: VendorValues,
): Candidate<T> | undefined {
  let chosen: Candidate<T> | undefined
  for (const candidate of special) {
    if (chosen !== undefined && candidate.specificity < chosen.specificity) break
    if (!matches(candidate, query, vendorValues)) continue
    if (chosen !== undefined) {
      throw invalidRequest(`The request means both ${chosen.name} and ${candidate.name}.`)
    }
    chosen = candidate
  }
  return chosen ?? plain
}

function matches(candidate: Candidate<unknown>, query: readonly QueryParameter[], vendorValues: VendorValues): boolean {
  if (candidate.query.length > query.length) return false
  for (const name of candidate.vendorHeaders) if (!vendorValues.has(name)) return false
  for (const { name, value } of candidate.query) {
    const sent = query.find((parameter) => parameter.name === name)
    if (sent === undefined || (value !== undefined && sent.value !== value)) return false
  }
  return true
}
