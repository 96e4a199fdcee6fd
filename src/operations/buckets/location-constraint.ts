/** What a LocationConstraint means: the location of that name, or, for the name of a cloud region, the default location. Pure. */
import { S3Error } from '../../errors.ts'

// The form of AWS's region names, which other providers copy. `EU` and `US` are AWS's oldest names.
const regionName = /^(?:EU|US|[a-z]{2,3}(?:-[a-z]+)+-\d{1,2})$/

/** The name of the location to use, or `undefined` when the constraint names neither a location nor a region. */
export async function resolveLocation(
  constraint: string | undefined,
  { hasLocation, defaultLocation }: { hasLocation(name: string): Promise<boolean>; defaultLocation: string },
): Promise<string | undefined> {
  if (constraint === undefined || constraint === '') return defaultLocation
  if (await hasLocation(constraint)) return constraint
  return regionName.test(constraint) ? defaultLocation : undefined
}

/** The message lists the locations. Their names are not secret: GetBucketLocation returns them. */
export function invalidLocation(constraint: string, locations: readonly string[]): S3Error {
  const names = locations.join(', ')
  return new S3Error('InvalidLocationConstraint', {
    message: `The specified location-constraint is not valid. The locations of this server are: ${names}.`,
    details: { LocationConstraint: constraint },
  })
}

/** The region that clients see: the one requested when the bucket was created, or else the server's own. */
export function regionOf(constraint: string | undefined, homeRegion: string): string {
  return constraint !== undefined && regionName.test(constraint) ? constraint : homeRegion
}
