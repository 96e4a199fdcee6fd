/** Compares the canonical request that was signed with the one that the server made of what it received. Pure. */

interface Parts {
  method: string
  path: string
  query: string
  /** By name. */
  headers: ReadonlyMap<string, string>
}

function partsOf(canonical: string): Parts {
  const [method = '', path = '', query = '', ...rest] = canonical.split('\n')
  const lines = rest.slice(0, rest.indexOf(''))
  return {
    method,
    path,
    query,
    headers: new Map(lines.map((line) => [before(line), line.slice(before(line).length + 1)])),
  }
}

const before = (line: string): string => line.slice(0, line.indexOf(':'))

export interface Difference {
  what: string
  sent: string
  arrived: string
  advice: string
}

/** The first part that differs. `undefined`: the requests are the same, so the secrets differ. */
export function differenceBetween(signed: string, received: string): Difference | undefined {
  const [sent, arrived] = [partsOf(signed), partsOf(received)]
  const differing = (what: 'method' | 'path' | 'query', advice: string): Difference | undefined =>
    sent[what] === arrived[what] ? undefined : { what, sent: sent[what], arrived: arrived[what], advice }
  return (
    differing('method', 'Let the proxy pass the method on (nginx: proxy_cache_convert_head off).') ??
    differing('path', 'Let the proxy pass the path on as it is (nginx: no path in proxy_pass, merge_slashes off).') ??
    differing('query', 'Let the proxy pass the query on as it is.') ??
    headerBetween(sent.headers, arrived.headers)
  )
}

function headerBetween(sent: Parts['headers'], arrived: Parts['headers']): Difference | undefined {
  for (const [name, value] of sent) {
    const other = arrived.get(name) ?? ''
    if (other === value) continue
    const advice =
      name === 'host'
        ? 'Let the proxy pass the Host on (nginx: proxy_set_header Host $http_host), or start the server with --public-endpoint and the URL that clients use.'
        : `Let the proxy pass ${name} on.`
    return { what: `the header ${name}`, sent: value, arrived: other, advice }
  }
  return undefined
}
