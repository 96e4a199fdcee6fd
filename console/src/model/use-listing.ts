/** The listing that a page shows: a new one for another prefix, and the same one loaded again without a flicker. */
import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Listing, type ListingOf } from './listing.ts'

interface Shown {
  /** The first listing of this prefix. */
  place: Listing
  listing: Listing
}

export function useListing(of: ListingOf): { listing: Listing; reload: () => Promise<void> } {
  const first = useMemo(() => new Listing(of), [JSON.stringify(of)])
  const latest = useRef(first)
  latest.current = first
  const shown = useSignal<Shown>({ place: first, listing: first })
  useEffect(() => {
    void first.more()
    return () => first.stop()
  }, [first])
  /** The old listing stays until the new one is there. */
  const reload = async () => {
    const next = new Listing(of)
    await next.more()
    if (latest.current === first) shown.value = { place: first, listing: next }
  }
  return { listing: shown.value.place === first ? shown.value.listing : first, reload }
}
