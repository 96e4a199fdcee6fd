/** A line over time, with the latest and the highest value as text. */
const width = 300
const height = 80

export function Chart({
  label,
  values,
  text,
}: {
  label: string
  values: readonly number[]
  text: (value: number) => string
}) {
  const highest = Math.max(...values, 0)
  const last = values.at(-1) ?? 0
  const y = (value: number) => (highest === 0 ? height : height - (value / highest) * (height - 4))
  const points = values.map(
    (value, i) => `${((i / Math.max(1, values.length - 1)) * width).toFixed(1)},${y(value).toFixed(1)}`,
  )
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${text(last)} now, at most ${text(highest)}`}
      >
        <polygon points={`0,${height} ${points.join(' ')} ${width},${height}`} />
        <polyline points={points.join(' ')} />
      </svg>
      <figcaption class="quiet">
        {text(last)} now, at most {text(highest)}
      </figcaption>
    </figure>
  )
}
