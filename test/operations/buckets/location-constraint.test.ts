/** What a LocationConstraint names: a location, a cloud region that stands for the default one, or nothing known. */
import { describe, expect, it } from 'vitest'
import { regionOf, resolveLocation } from '../../../src/operations/buckets/location-constraint.ts'

const hasLocation = async (name: string): Promise<boolean> => ['default', 'eu-ec', 'eu-west-1'].includes(name)

describe('a location constraint', () => {
  it.each([
    [undefined, 'default', 'home-1'],
    ['', 'default', 'home-1'],
    ['default', 'default', 'home-1'],
    ['eu-ec', 'eu-ec', 'home-1'],
    ['us-east-1', 'default', 'us-east-1'],
    ['eu-central-1', 'default', 'eu-central-1'],
    ['ap-southeast-12', 'default', 'ap-southeast-12'],
    ['us-gov-west-1', 'default', 'us-gov-west-1'],
    ['EU', 'default', 'EU'],
    ['US', 'default', 'US'],
    ['nl-ams-1', 'default', 'nl-ams-1'],
    // A location of the operator's counts more than a region of the name.
    ['eu-west-1', 'eu-west-1', 'eu-west-1'],
    ['nowhere', undefined, 'home-1'],
    ['Default', undefined, 'home-1'],
    ['eu', undefined, 'home-1'],
    ['eu-west', undefined, 'home-1'],
    ['eu-west-', undefined, 'home-1'],
    ['eu-west-123', undefined, 'home-1'],
    ['-west-1', undefined, 'home-1'],
    [' eu-west-1', undefined, 'home-1'],
    ['eu-west-1\n', undefined, 'home-1'],
    ['EU-WEST-1', undefined, 'home-1'],
    ['../default', undefined, 'home-1'],
    ['__proto__', undefined, 'home-1'],
  ])('%j means location %s, in region %s', async (constraint, location, region) => {
    expect(await resolveLocation(constraint, { hasLocation, defaultLocation: 'default' })).toBe(location)
    expect(regionOf(constraint, 'home-1')).toBe(region)
  })

  it.each([
    [undefined, 'eu-ec'],
    ['', 'eu-ec'],
    ['us-east-1', 'eu-ec'],
    ['default', 'default'],
    ['eu-west-1', 'eu-west-1'],
    ['nowhere', undefined],
  ])('%j means location %s where the default location is eu-ec', async (constraint, location) => {
    expect(await resolveLocation(constraint, { hasLocation, defaultLocation: 'eu-ec' })).toBe(location)
  })
})
