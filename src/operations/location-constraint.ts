/** What a LocationConstraint means: a location by its name, or a cloud region's name, which stands for the default location. Pure. */
import { S3Error } from '../errors.ts'

export const defaultLocation = 'default'

// AWS's regions have this shape, and so have those of providers that copy it; `EU` and `US` are its oldest names.
const regionName = /^(?:EU|US|[a-z]{2,3}(?:-[a-z]+)+-\d{1,2})$/

/** The name of the location to use, or `undefined` when the constraint names neither a location nor a region. */
export function resolveLocation(
  constraint: string | undefined,
  isLocation: (name: string) => boolean,
): string | undefined {
  if (constraint === undefined || constraint === '') return defaultLocation
  if (isLocation(constraint)) return constraint
  return regionName.test(constraint) ? defaultLocation : undefined
}

/** Says which there are. Their names are no secret: GetBucketLocation gives them. */
export function invalidLocation(constraint: string, locations: readonly string[]): S3Error {
  const names = [...new Set([defaultLocation, ...locations])].join(', ')
  return new S3Error('InvalidLocationConstraint', {
    message: `The specified location constraint is not valid. The locations of this server are: ${names}.`,
    details: { LocationConstraint: constraint },
  })
}

/** The region that clients are told: the one asked for when the bucket was made, else the server's own. */
export function regionOf(constraint: string | undefined, homeRegion: string): string {
  return constraint !== undefined && regionName.test(constraint) ? constraint : homeRegion
}
