/** What a LocationConstraint means: a location by its name, or a cloud region's name, which stands for the default location. Pure. */

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

/** The region that clients are told: the one asked for when the bucket was made, else the server's own. */
export function regionOf(constraint: string | undefined, homeRegion: string): string {
  return constraint !== undefined && regionName.test(constraint) ? constraint : homeRegion
}
